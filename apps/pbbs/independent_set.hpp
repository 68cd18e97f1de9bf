// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "pbbs/check.hpp"
#include "pbbs/graph.hpp"
#include "pbbs/speculative_for.hpp"
#include "pbbs/vertex_order.hpp"

namespace pbbs {

// A maximal independent set: the one that takes each vertex, in a random order, unless it has a
// neighbour in the set already. All variants find the same one.
class independent_set_kernel {
 public:
  explicit independent_set_kernel(graph g)
      : graph_(std::move(g)), order_(graph_.size()), states_(graph_.size()) {}

  void clear() { std::ranges::fill(states_, state::open); }

  void serial() {
    for (const vertex v : order_.at) {
      if (states_[v] == state::out) continue;
      states_[v] = state::in;
      for (const vertex u : graph_.of(v)) states_[u] = state::out;
    }
    expected_ = states_;
  }

  template <class Loops>
  void parallel(const Loops& loops) {
    step each{*this};
    speculative_for(loops, graph_.size(), 25, each);
  }

  [[nodiscard]] bool correct() const {
    return is_maximal_independent_set(graph_, states_) &&
           (expected_.empty() || states_ == expected_);
  }

 private:
  using state = membership;

  struct step {
    using decision = state;
    independent_set_kernel& of;

    // A neighbour can be in only if it comes earlier in the order. This is not inlined, so that all
    // variants run the same instructions: between two equal copies of the loop, which the compiler
    // had placed at different addresses, a sixth of the time was measured.
    [[nodiscard, gnu::noinline]] state decide(iteration i) const {
      const vertex v = of.order_.at[i];
      bool waits = false;
      for (const vertex u : of.graph_.of(v)) {
        const state known = of.states_[u];
        if (known == state::out) continue;
        if (known == state::in) return state::out;
        waits = waits || of.order_.rank[u] < i;
      }
      return waits ? state::open : state::in;
    }
    [[nodiscard]] bool commit(iteration i, state decided) const {
      of.states_[of.order_.at[i]] = decided;
      return decided != state::open;
    }
  };

  graph graph_;
  vertex_order order_;
  std::vector<state> states_;
  std::vector<state> expected_;
};

}  // namespace pbbs

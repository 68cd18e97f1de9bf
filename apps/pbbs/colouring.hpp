// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pbbs/check.hpp"
#include "pbbs/graph.hpp"
#include "pbbs/speculative_for.hpp"
#include "pbbs/vertex_order.hpp"

namespace pbbs {

// A proper colouring of a graph: each vertex, in a random order, takes the least colour that no
// neighbour has yet. All variants find the same one.
class colouring_kernel {
 public:
  explicit colouring_kernel(graph g)
      : graph_(std::move(g)), order_(graph_.size()), colours_(graph_.size()) {}

  void clear() { std::ranges::fill(colours_, 0); }

  void serial() {
    for (const vertex v : order_.at) colours_[v] = least_free(v);
    expected_ = colours_;
  }

  template <class Loops>
  void parallel(const Loops& loops) {
    step each{*this};
    speculative_for(loops, graph_.size(), 25, each);
  }

  [[nodiscard]] bool correct() const {
    return is_greedy_colouring(graph_, colours_) && (expected_.empty() || colours_ == expected_);
  }

 private:
  struct step {
    using decision = colour;
    colouring_kernel& of;

    // A neighbour that has a colour comes earlier in the order.
    [[nodiscard]] colour decide(iteration i) const {
      const vertex v = of.order_.at[i];
      for (const vertex u : of.graph_.of(v)) {
        if (of.colours_[u] == 0 && of.order_.rank[u] < i) return 0;
      }
      return of.least_free(v);
    }
    [[nodiscard]] bool commit(iteration i, colour decided) const {
      of.colours_[of.order_.at[i]] = decided;
      return decided != 0;
    }
  };

  // Looks at 64 colours at a time, which nearly always suffices.
  [[nodiscard]] colour least_free(vertex v) const {
    for (colour base = 1;; base += 64) {
      std::uint64_t taken = 0;
      for (const vertex u : graph_.of(v)) {
        const colour above = colours_[u] - base;  // a great number if it is less
        if (above < 64) taken |= std::uint64_t{1} << above;
      }
      if (~taken != 0) return base + static_cast<colour>(std::countr_one(taken));
    }
  }

  graph graph_;
  vertex_order order_;
  std::vector<colour> colours_;
  std::vector<colour> expected_;
};

}  // namespace pbbs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pbbs/check.hpp"
#include "pbbs/graph.hpp"
#include "pbbs/speculative_for.hpp"
#include "pbbs/vertex_order.hpp"

namespace pbbs {

// A maximal matching: the one that takes each edge, in a random order, if none of its vertices is
// matched already. All variants find the same one.
class matching_kernel {
 public:
  explicit matching_kernel(graph g)
      : graph_(std::move(g)),
        edges_(edges_of(graph_)),
        mates_(graph_.size()),
        reserved_(graph_.size()) {
    shuffle(edges_);
  }

  void clear() {
    std::ranges::fill(mates_, nobody);
    std::ranges::fill(reserved_, no_iteration);
  }

  void serial() {
    for (const auto& [u, v] : edges_) {
      if (mates_[u] != nobody || mates_[v] != nobody) continue;
      mates_[u] = v;
      mates_[v] = u;
    }
    expected_ = mates_;
  }

  template <class Loops>
  void parallel(const Loops& loops) {
    step each{*this};
    speculative_for(loops, edges_.size(), 100, each);
  }

  [[nodiscard]] bool correct() const {
    return is_maximal_matching(graph_, mates_) && (expected_.empty() || mates_ == expected_);
  }

 private:
  // A vertex is reserved for the earliest edge that tries to match it in this round.
  struct step {
    enum class decision : std::uint8_t { drop, try_to_match };
    matching_kernel& of;

    [[nodiscard]] decision decide(iteration e) const {
      const auto [u, v] = of.edges_[e];
      if (of.mates_[u] != nobody || of.mates_[v] != nobody) return decision::drop;
      of.reserve(u, e);
      of.reserve(v, e);
      return decision::try_to_match;
    }
    [[nodiscard]] bool commit(iteration e, decision decided) const {
      if (decided == decision::drop) return true;
      const auto [u, v] = of.edges_[e];
      const bool has_u = of.release(u, e);
      const bool has_v = of.release(v, e);
      if (!has_u || !has_v) return false;
      of.mates_[u] = v;
      of.mates_[v] = u;
      return true;
    }
  };

  void reserve(vertex v, iteration e) {
    const std::atomic_ref<iteration> reserved(reserved_[v]);
    iteration before = reserved.load(std::memory_order_relaxed);
    while (e < before && !reserved.compare_exchange_weak(before, e, std::memory_order_relaxed)) {
    }
  }
  // Returns whether the vertex is reserved for the edge, and ends that.
  bool release(vertex v, iteration e) {
    const std::atomic_ref<iteration> reserved(reserved_[v]);
    if (reserved.load(std::memory_order_relaxed) != e) return false;
    reserved.store(no_iteration, std::memory_order_relaxed);
    return true;
  }

  graph graph_;
  std::vector<arc> edges_;
  std::vector<vertex> mates_;
  std::vector<iteration> reserved_;
  std::vector<vertex> expected_;
};

}  // namespace pbbs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "pbbs/check.hpp"
#include "pbbs/graph.hpp"

namespace pbbs {

// Breadth-first search from vertex 0: the distance of each vertex. The frontier of a level is an
// array. A scan of the degrees of its vertices gives each of them room for its neighbours; a vertex
// writes there those that it reaches first, and a filter makes them the next frontier.
class breadth_first_kernel {
 public:
  explicit breadth_first_kernel(graph g)
      : graph_(std::move(g)),
        distances_(graph_.size()),
        frontier_(graph_.size()),
        rooms_(graph_.size()),
        reached_(2 * graph_.edges()) {}

  void clear() { std::ranges::fill(distances_, unreached); }

  void serial() {
    std::size_t size = 1;
    frontier_[0] = source;
    distances_[source] = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const vertex v = frontier_[i];
      for (const vertex u : graph_.of(v)) {
        if (distances_[u] != unreached) continue;
        distances_[u] = distances_[v] + 1;
        frontier_[size++] = u;
      }
    }
    expected_ = distances_;
  }

  template <class Loops>
  void parallel(const Loops& loops) {
    std::size_t size = 1;
    frontier_[0] = source;
    distances_[source] = 0;
    for (distance next = 1; size > 0; ++next) {
      const auto rooms = std::span(rooms_).first(size);
      loops.for_each(size, [&](std::size_t i) { rooms[i] = graph_.degree(frontier_[i]); });
      const std::size_t total = loops.scan(std::span<const std::size_t>(rooms), rooms);
      loops.for_each_uneven(size, [&](std::size_t i) {
        vertex* room = reached_.data() + rooms[i];
        for (const vertex u : graph_.of(frontier_[i])) *room++ = reach(u, next) ? u : nobody;
      });
      // A vertex is reached once, so that those of a level fit into the frontier.
      size = loops.filter(std::span<const vertex>(reached_).first(total), std::span(frontier_),
                          [](vertex v) { return v != nobody; });
    }
  }

  [[nodiscard]] bool correct() const {
    return are_distances(graph_, source, distances_) &&
           (expected_.empty() || distances_ == expected_);
  }

 private:
  static constexpr vertex source = 0;

  // Whether the caller is the first to reach the vertex.
  bool reach(vertex v, distance d) {
    const std::atomic_ref<distance> mine(distances_[v]);
    distance before = mine.load(std::memory_order_relaxed);
    return before == unreached &&
           mine.compare_exchange_strong(before, d, std::memory_order_relaxed);
  }

  graph graph_;
  std::vector<distance> distances_;
  std::vector<vertex> frontier_;
  std::vector<std::size_t> rooms_;
  std::vector<vertex> reached_;
  std::vector<distance> expected_;
};

}  // namespace pbbs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph, or a place's portion of one, in compressed sparse rows: the neighbours of each vertex
// are consecutive in memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace apps {

using vertex = std::int64_t;

struct edge {
  vertex from;
  vertex to;
};

class adjacency {
 public:
  adjacency() = default;
  // A graph of `vertices` vertices. `index` maps an edge to the vertex it starts from.
  template <class Index>
  adjacency(std::size_t vertices, std::span<const edge> edges, Index index)
      : first_(vertices + 1), neighbours_(edges.size()) {
    for (const edge& e : edges) ++first_[index(e.from) + 1];
    for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const edge& e : edges) neighbours_[next[index(e.from)]++] = e.to;
  }

  [[nodiscard]] std::span<const vertex> of(std::size_t v) const {
    return std::span(neighbours_).subspan(first_[v], first_[v + 1] - first_[v]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<vertex> neighbours_;
};

}  // namespace apps

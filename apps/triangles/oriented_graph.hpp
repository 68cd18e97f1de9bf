// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph of which each edge is kept once, at the end with fewer edges, so that no vertex keeps
// many: the usual form for counting triangles. Does not use the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/kronecker.hpp"
#include "support/adjacency.hpp"

namespace triangles {

using apps::edge;
using apps::vertex;
using list = std::span<const vertex>;

// Sorts the edges and removes repetitions.
inline void normalise(std::vector<edge>& edges) {
  const auto ends = [](const edge& e) { return std::pair(e.from, e.to); };
  std::ranges::sort(edges, {}, ends);
  const auto repeated = std::ranges::unique(edges, {}, ends);
  edges.erase(repeated.begin(), repeated.end());
}

// Removes the edges to a vertex of lower rank. The rank of a vertex is its degree, and among equal
// degrees its number.
inline void orient(std::vector<edge>& edges, std::span<const std::int32_t> degrees) {
  const auto rank = [&](vertex v) { return std::pair(degrees[static_cast<std::size_t>(v)], v); };
  std::erase_if(edges, [&](const edge& e) { return rank(e.from) > rank(e.to); });
}

// How many vertices are in both sorted lists.
inline std::int64_t common(list a, list b) {
  std::int64_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    count += a[i] == b[j] ? 1 : 0;
    const bool advance_a = a[i] <= b[j];
    const bool advance_b = b[j] <= a[i];
    i += advance_a ? 1 : 0;
    j += advance_b ? 1 : 0;
  }
  return count;
}

// The edges of the whole graph, in both directions, normalised.
inline std::vector<edge> whole_graph(const bfs::kronecker& g) {
  std::vector<edge> all = std::move(bfs::share_of_edges(g, {1, 0}).front());
  normalise(all);
  return all;
}

inline std::size_t index_of(vertex v) { return static_cast<std::size_t>(v); }

// Serially, by the lists of the oriented graph.
inline std::int64_t count_serially(const apps::adjacency& oriented, std::size_t vertices) {
  std::int64_t count = 0;
  for (std::size_t v = 0; v < vertices; ++v) {
    for (const vertex u : oriented.of(v)) count += common(oriented.of(v), oriented.of(index_of(u)));
  }
  return count;
}

// An independent count: each triangle u < v < w is found from the neighbours of u that are marked.
// It uses neither the lists in common nor the ranks of the vertices.
inline std::int64_t count_by_marks(const apps::adjacency& graph, std::size_t vertices) {
  std::int64_t count = 0;
  std::vector<vertex> marked_by(vertices, -1);
  for (std::size_t u = 0; u < vertices; ++u) {
    const auto from = static_cast<vertex>(u);
    for (const vertex w : graph.of(u)) marked_by[index_of(w)] = from;
    for (const vertex v : graph.of(u)) {
      if (v < from) continue;
      for (const vertex w : graph.of(index_of(v))) {
        count += w > v && marked_by[index_of(w)] == from ? 1 : 0;
      }
    }
  }
  return count;
}

}  // namespace triangles

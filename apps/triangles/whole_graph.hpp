// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph that is counted, and its independent count at one place. Does not use the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/kronecker.hpp"
#include "support/adjacency.hpp"
#include "support/memory.hpp"
#include "triangles/oriented_graph.hpp"

namespace triangles {

constexpr int largest_scale = 22;

// The memory that the places of the host of place 0 need for each edge together, in bytes. They
// exchange edges in both directions, and then edges in one direction; a place has `copies` of what
// it exchanges. The independent count has each edge twice at place 0, as a pair and in a list.
inline double bytes_of_an_edge(const apps::placement& p, int copies) {
  constexpr double pairs = 2 * sizeof(edge);
  constexpr double oriented = sizeof(edge);
  return std::max(pairs + 2 * sizeof(vertex),
                  pairs + std::max(copies * pairs, pairs + copies * oriented) * p.part_on_host());
}

// The edges of the whole graph, in both directions, normalised.
inline std::vector<edge> whole_graph(const bfs::kronecker& g) {
  std::vector<edge> all = std::move(bfs::share_of_edges(g, {1, 0}).front());
  normalise(all);
  return all;
}

// The whole graph as the portion of a single place.
inline portion at_one_place(const std::vector<edge>& edges, std::int64_t vertices) {
  constexpr bfs::dealing alone{1, 0};
  const std::vector<rank> ranks = ranks_of(degrees_of(edges, vertices));
  return {alone, vertices, oriented(edges, ranks, alone).front()};
}

// An independent count: each triangle u < v < w is found from the neighbours of u that are marked.
// It uses neither the lists in common nor the ranks of the vertices.
inline std::int64_t count_by_marks(const std::vector<edge>& edges, std::int64_t vertices) {
  const auto index_of = [](vertex v) { return static_cast<std::size_t>(v); };
  const apps::adjacency graph(index_of(vertices), edges, index_of);
  std::int64_t count = 0;
  std::vector<vertex> marked_by(index_of(vertices), -1);
  for (vertex u = 0; u < vertices; ++u) {
    for (const vertex w : graph.of(index_of(u))) marked_by[index_of(w)] = u;
    for (const vertex v : graph.of(index_of(u))) {
      if (v < u) continue;
      for (const vertex w : graph.of(index_of(v))) {
        count += w > v && marked_by[index_of(w)] == u ? 1 : 0;
      }
    }
  }
  return count;
}

}  // namespace triangles

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dijkstra's algorithm at one place, and the check of lengths. Does not use the library.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sssp/weighted_graph.hpp"

namespace sssp {

// The length of the shortest path from the root to each vertex of the whole graph.
std::vector<length> dijkstra(const arcs& graph, std::size_t root);

// How many vertices have a length that cannot be right. All lengths are right if there is none,
// since all weights are positive: the root has length 0, no arc leads to a shorter path, and each
// other vertex that is reached has an arc from a vertex that accounts for its length. Requires: a
// length for each vertex of the graph.
std::int64_t wrong_lengths(const arcs& graph, std::span<const length> lengths, std::size_t root);

// What a program reports about the lengths that it found.
struct summary {
  // Lengths that cannot be right, or differ from those of Dijkstra; 1 if their number is not that
  // of the vertices.
  std::int64_t wrong = 0;
  std::int64_t reached = 0;
  length longest = 0;
};
summary summarise(const arcs& graph, std::span<const length> lengths, std::size_t root);

}  // namespace sssp

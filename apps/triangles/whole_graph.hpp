// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph that is counted, the options that define it, and its independent count at one place.
// Does not use the library.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/kronecker.hpp"
#include "support/adjacency.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "triangles/oriented_graph.hpp"

namespace triangles {

// Sent to all places.
struct plan {
  int scale = 14;
  int edge_factor = 16;
  std::int64_t seed = 1;

  [[nodiscard]] bfs::kronecker graph() const {
    return {scale, edge_factor, static_cast<std::uint64_t>(seed)};
  }

  void declare(apps::command_line& line) {
    line.option("--scale", scale, 1, 22, "the graph has 2^scale vertices");
    line.option("--edge-factor", edge_factor, 1, 64, "edges per vertex");
    line.option("--seed", seed, 0, 1'000'000'000, "seed of the graph");
  }

  // The exit code if the graph is too large for the independent count, which has each edge twice at
  // one place, as a pair and in a list.
  [[nodiscard]] std::optional<int> refused(const apps::command_line& line) const {
    const double edges = 2.0 * edge_factor * static_cast<double>(std::int64_t{1} << scale);
    const std::string problem = apps::beyond_memory(edges * (sizeof(edge) + sizeof(vertex)));
    if (problem.empty()) return std::nullopt;
    return line.refuse("--scale and --edge-factor: " + problem + "; choose a smaller graph");
  }
};

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

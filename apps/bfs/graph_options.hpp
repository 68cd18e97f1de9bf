// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of the programs that work on a Kronecker graph. Does not use the library.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "bfs/kronecker.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace bfs {

// The memory that the places of a host need for each edge together, in bytes: for an exchange of
// edges in both directions, of which a place has `copies` meanwhile; for their portions of the
// graph; or for the check, for which `checkers` of these places have all edges.
inline double bytes_of_an_edge(const apps::placement& p, int copies, int checkers) {
  const double exchanged = 2.0 * sizeof(edge) * p.part_on_host();
  const double kept = 2.0 * sizeof(vertex) * p.part_on_host();
  return std::max({copies * exchanged, exchanged + kept, kept + 1.0 * checkers * sizeof(edge)});
}

// Defines the graph. Sent to all places.
struct graph_options {
  int scale = 14;
  int edge_factor = 16;
  std::int64_t seed = 1;

  // `seeded` says in --help what the seed is for.
  void declare(apps::command_line& line, int largest_scale, const std::string& seeded) {
    line.option("--scale", scale, 1, largest_scale, "the graph has 2^scale vertices");
    line.option("--edge-factor", edge_factor, 1, 64, "edges per vertex");
    line.option("--seed", seed, 0, 1'000'000'000, "seed of " + seeded);
  }

  [[nodiscard]] kronecker graph() const {
    return {scale, edge_factor, static_cast<std::uint64_t>(seed)};
  }

  // The exit code if the places of a host need so many bytes for each edge together, and the host
  // does not have them.
  [[nodiscard]] std::optional<int> refused(const apps::command_line& line, double bytes_of_an_edge,
                                           double memory = apps::memory_of_host()) const {
    const double bytes = bytes_of_an_edge * static_cast<double>(graph().edges());
    const std::string problem = apps::beyond_memory(bytes, memory);
    if (problem.empty()) return std::nullopt;
    return line.refuse("--scale and --edge-factor: " + problem + "; choose a smaller graph");
  }
};

}  // namespace bfs

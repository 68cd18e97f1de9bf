// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of the programs that work on a Kronecker graph. Does not use the library.

#include <cstdint>
#include <optional>
#include <string>

#include "bfs/kronecker.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace bfs {

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

  // The exit code if a place needs so many bytes for each edge, and its host does not have them.
  [[nodiscard]] std::optional<int> refused(const apps::command_line& line,
                                           double bytes_of_an_edge) const {
    const std::string problem =
        apps::beyond_memory(bytes_of_an_edge * static_cast<double>(graph().edges()));
    if (problem.empty()) return std::nullopt;
    return line.refuse("--scale and --edge-factor: " + problem + "; choose a smaller graph");
  }
};

}  // namespace bfs

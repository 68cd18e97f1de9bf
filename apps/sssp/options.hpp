// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of sssp and of its peer in plain MPI, and what both report.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"

namespace sssp {

struct options {
  plan graph{.scale = 14, .edge_factor = 16, .seed = 1, .heaviest = 255};
  length delta = 8;
  std::string variant = "delta";

  void declare(apps::command_line& line) {
    line.option("--scale", graph.scale, 1, largest_scale, "the graph has 2^scale vertices");
    line.option("--edge-factor", graph.edge_factor, 1, 64, "edges per vertex");
    line.option("--seed", graph.seed, 0, 1'000'000'000, "seed of the graph and the weights");
    line.option("--heaviest", graph.heaviest, 1, largest_weight,
                "weights are random, from 1 to this");
    line.option("--delta", delta, 1, 1'000'000'000, "width of a bucket, in units of the weights");
  }

  // The exit code if the graph is too large for the check of the result, for which a place
  // generates the edges in both directions beside the arcs of the search.
  [[nodiscard]] std::optional<int> refused(const apps::command_line& line) const {
    const double edges =
        2.0 * graph.edge_factor * static_cast<double>(std::int64_t{1} << graph.scale);
    const std::string problem =
        apps::beyond_memory(edges * (sizeof(weighted_edge) + 2 * sizeof(arc)));
    if (problem.empty()) return std::nullopt;
    return line.refuse("--scale and --edge-factor: " + problem + "; choose a smaller graph");
  }

  [[nodiscard]] apps::figures figures(const summary& s, std::int64_t rounds) const {
    return {{"variant", variant},   {"scale", graph.scale}, {"delta", delta},
            {"reached", s.reached}, {"longest", s.longest}, {"rounds", rounds},
            {"wrong", s.wrong}};
  }
};

}  // namespace sssp

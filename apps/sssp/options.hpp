// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of sssp and of its peer in plain MPI, and what both report.

#include <algorithm>
#include <cstdint>
#include <string>

#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"

namespace sssp {

struct options {
  plan graph;
  length delta = 8;
  std::string variant = "delta";

  void declare(apps::command_line& line) {
    graph.declare(line, largest_scale, "the graph and the weights");
    line.option("--heaviest", graph.heaviest, 1, largest_weight,
                "weights are random, from 1 to this");
    line.option("--delta", delta, 1, 1'000'000'000, "width of a bucket, in units of the weights");
  }

  // The memory that the places of the host of place 0 need for each edge together, in bytes. First
  // place 0 generates the whole graph, whose arcs it keeps for the check; then all places exchange
  // edges, of which each has `copies` meanwhile, and make their portions of the arcs.
  [[nodiscard]] double bytes_of_an_edge(const apps::placement& p, int copies) const {
    constexpr double edges = 2 * sizeof(weighted_edge);
    constexpr double kept = 2 * sizeof(arc);
    if (variant != "delta") return edges + kept;
    return std::max(edges + kept, kept + std::max(copies * edges, edges + kept) * p.part_on_host());
  }

  [[nodiscard]] apps::figures figures(const summary& s, std::int64_t rounds) const {
    return {{"variant", variant},   {"scale", graph.scale}, {"delta", delta},
            {"reached", s.reached}, {"longest", s.longest}, {"rounds", rounds},
            {"wrong", s.wrong}};
  }
};

}  // namespace sssp

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface of a kernel for the program and the tests.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imsuite/input.hpp"

namespace imsuite {

enum class variant { clocks, finish, baseline };

// One number per node, whose meaning depends on the kernel; trees have both directions of their
// edges.
struct solution {
  per_node<int> of_node;
  per_node<std::vector<int>> children;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(of_node, children);
  }
};

struct outcome {
  solution found;
  double seconds = 0;         // of the algorithm alone
  std::int64_t rounds = 0;    // of tasks on one clock
  std::int64_t phases = 0;    // advances of all tasks together
  std::int64_t messages = 0;  // between places, without those of the clock

  template <class Archive>
  void serialize(Archive& archive) {
    archive(found, seconds, rounds, phases, messages);
  }
};

// Returns what is wrong, or nothing.
using complaint = std::optional<std::string>;

struct kernel {
  std::string_view name;
  std::string_view short_name;  // as in the paper
  layout sections;
  int usual_nodes;  // as in the paper
  int most_nodes;
  // Runs at this place. Context: a task; may suspend.
  outcome (*solve)(const input&, variant);
  // Runs with a block of the nodes at each place. Requires: not the baseline.
  // Context: a task of the program; may suspend.
  outcome (*solve_over_places)(const input&, variant);
  // Checks the solution by other means than the kernel's.
  complaint (*check)(const input&, const solution&);
};

extern const kernel kcommittee;
extern const kernel leader_elect_hs;
extern const kernel leader_elect_lcr;
extern const kernel byzantine;
extern const kernel bfs_bellman_ford;
extern const kernel bfs_dijkstra;
extern const kernel mis;
extern const kernel mst;
extern const kernel vertex_coloring;
extern const kernel dominating_set;
extern const kernel leader_elect_dp;

std::span<const kernel* const> kernels();

// Finds a kernel by either name; nullptr if there is none.
const kernel* find_kernel(std::string_view name);

}  // namespace imsuite

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The benchmarks of sync_bench.

#include <vector>

#include "harness.hpp"
#include "lock_step.hpp"

namespace bench {

struct sync_sizes {
  std::vector<int> members{2, 8, 64, 512, 4096, 65536};
  std::vector<int> spawned{64, 512, 4096};
  std::vector<int> microseconds{0, 1, 10, 100};
  double operations = 200'000;   // in a run: phases of all members, or spawned tasks
  double seconds_of_work = 0.1;  // in a run with work, on each worker
  double budget = 2;             // in seconds, for a run
  int growing_members = 64;
  int growing_repeats = 50;
  bool check_all = false;
};

std::vector<benchmark> barriers(const sync_sizes& s);
std::vector<benchmark> reductions(const sync_sizes& s);
std::vector<benchmark> growing_barriers(const sync_sizes& s);
std::vector<benchmark> clocked_tasks(const sync_sizes& s);
std::vector<benchmark> waiting_styles(const sync_sizes& s);

}  // namespace bench

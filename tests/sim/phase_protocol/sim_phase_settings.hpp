// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a simulation of phases is like, and what it met.

#include <cstdint>

#include "sim_phase_faults.hpp"

namespace phase_sim {

struct settings {
  int tiers = 1;
  int degree = 2;
  bool between = false;  // something is done between phases: a flat node does not roll by itself
  bool tallies = false;  // tasks that were resumed together run one after the other, with a tally
  bool recounts = true;  // the checker compares the counters with the tasks
  int check_every = 1;   // steps between full checks
  std::int64_t max_steps = 100'000'000;
  fault broken = fault::none;
};

struct counters {
  std::int64_t steps = 0;
  std::int64_t tasks = 0;
  std::int64_t phases = 0;
  std::int64_t parked = 0;
  std::int64_t moves = 0;       // children that started at another leaf
  std::int64_t stays = 0;       // that would have, but the leaf was a phase behind
  std::int64_t reopenings = 0;  // of a leaf or inner node that had been complete
  std::int64_t crossings = 0;   // a node was told of one before it was told of the completion
  std::int64_t run_ahead = 0;   // signals for a later phase than the leaf's next
  std::int64_t noted = 0;       // signals and ends that a tally told
  std::int64_t singles = 0;
  std::int64_t silent_rolls = 0;  // a node had nobody due in its next phase
};

}  // namespace phase_sim

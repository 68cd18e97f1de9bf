// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings of a simulation, and the counts of what happened in it.

#include <cstdint>

#include "sim_phase_faults.hpp"

namespace phase_sim {

struct settings {
  int tiers = 1;
  int degree = 2;
  // A clock with one tree node grows to so many leaves if so many of its tasks are unarrived.
  int grows_to = 1;
  int crowd = 2;
  // An action runs between phases, so a flat phaser does not advance in one step.
  bool between = false;
  // Tasks that are resumed together form batches, whose arrivals are batched.
  bool batches_arrivals = false;
  bool recounts = true;  // the checker recounts the counters from the tasks
  int check_every = 1;   // steps between full checks
  std::int64_t max_steps = 100'000'000;
  fault broken = fault::none;
};

struct counters {
  std::int64_t steps = 0;
  std::int64_t tasks = 0;
  std::int64_t phases = 0;
  std::int64_t parked = 0;
  std::int64_t moves = 0;       // of tasks to another leaf
  std::int64_t stays = 0;       // tasks that did not move, because that leaf was a phase behind
  std::int64_t grown = 0;       // trees
  std::int64_t reopenings = 0;  // of a leaf or inner tree node that had been complete
  std::int64_t crossings = 0;   // a reopening that reached the parent before the completion
  std::int64_t run_ahead = 0;   // signals for a phase after the leaf's next one
  std::int64_t noted = 0;       // batched signals and ends
  std::int64_t singles = 0;
  std::int64_t advances_at_once = 0;  // a tree node was complete in its next phase at once
};

}  // namespace phase_sim

// SPDX-License-Identifier: Apache-2.0
#pragma once

// One seed gives one simulation of a random program in random order.

#include <cstdint>
#include <string>

#include <apgas/base/random.hpp>

#include "sim_phase_world.hpp"

namespace phase_sim {

// The seed determines the whole run: the tree, the program and the order.
inline std::string run_seed(std::uint64_t seed, fault broken = fault::none,
                            counters* out = nullptr) {
  apgas::base::random_engine pick(seed);
  random_script::shape shape;
  shape.tasks = 1 + static_cast<int>(pick.below(pick.below(3) == 0 ? 5 : 50));
  const bool grows = pick.below(4) == 0;
  shape.modes = !grows && pick.below(3) != 0;
  shape.spawn = 0.1 + pick.real() * 0.4;
  shape.end = 0.03 + pick.real() * 0.2;
  shape.drop = pick.real() * 0.1;
  shape.resume = pick.real() * 0.4;
  shape.single = pick.below(2) == 0 ? 0.3 : 0.0;
  shape.steps = 60;
  settings s;
  s.tiers = grows ? 1 : 1 + static_cast<int>(pick.below(3));
  s.degree = 1 + static_cast<int>(pick.below(3));
  s.between = pick.below(2) == 0;
  s.batches_arrivals = pick.below(2) == 0;
  s.recounts = broken == fault::none;  // a fault must be detected by its effects
  s.max_steps = 1'000'000;
  s.broken = broken;
  if (grows) {
    s.grows_to = 2 + static_cast<int>(pick.below(3));
    s.crowd = 1 + static_cast<int>(pick.below(8));
  }
  random_script program(shape, pick());
  sim::random_choice chooser(pick());
  return run(s, program, chooser, out);
}

}  // namespace phase_sim

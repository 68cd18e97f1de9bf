// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates a random program with random delivery, all of it determined by one seed.

#include <cstdint>
#include <string>

#include <apgas/base/random.hpp>

#include "sim_finish_world.hpp"

namespace sim {

// The seed determines places, program, sizes of shares and order. Returns what is wrong, or "".
inline std::string run_seed(std::uint64_t seed, fault broken = fault::none,
                            counters* out = nullptr) {
  apgas::base::random_engine pick(seed);
  random_script::shape shape;
  shape.places = 2 + static_cast<int>(pick.below(7));
  shape.tasks = 1 + static_cast<int>(pick.below(pick.below(3) == 0 ? 6 : 80));
  shape.finishes = static_cast<int>(pick.below(8));
  shape.stop = 0.1 + pick.real() * 0.4;
  shape.local = pick.real() * 0.5;
  shape.at = pick.real() * 0.5;
  shape.uncounted = pick.below(3) == 0 ? 0.3 : 0.0;
  shape.finish = pick.real() * 0.4;
  settings s;
  s.places = shape.places;
  // Small shares run out at once, so every send must ask; full ones never do in so short a run.
  const std::uint64_t shares[] = {1, 2, 5, 64, apgas::sync::full_share};
  s.share = shares[pick.below(5)];
  s.late_reports = pick.below(3) != 0;
  s.self_frames = pick.below(2) == 0;
  s.lazy_returns = pick.below(2) == 0;
  s.order = pick.below(4) == 0 ? schedule::messages_first : schedule::any;
  s.slow_kind = static_cast<int>(pick.below(10));   // in half of the runs no kind is slow
  s.slow_place = static_cast<int>(pick.below(16));  // and no place
  // Many links or few or none, at two levels or at any; a fault in tree return needs some.
  const int links[] = {0, 1, 2, 16};
  s.links = links[pick.below(4)];
  if (broken >= fault::first_of_links && s.links == 0) s.links = 16;
  s.levels = pick.below(2) == 0 ? 2 : apgas::sync::tree_return::levels_max;
  s.max_steps = 1'000'000;
  s.broken = broken;
  random_script program(shape, pick());
  random_choice chooser(pick());
  return run(s, program, chooser, out);
}

}  // namespace sim

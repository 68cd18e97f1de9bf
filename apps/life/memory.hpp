// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory that a run needs, which is known from its plan. Does not use the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "life/board.hpp"
#include "life/plan.hpp"
#include "life/replay.hpp"

namespace life {

struct visits {
  std::int64_t observations = 0;  // one of each client for each generation of its visit
  std::int64_t most_at_once = 0;  // clients that take part in the same phase
};

inline visits visits_of(const plan& p) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(p.generations) + 1);
  visits all;
  for (int c = 0; c < p.clients; ++c) {
    const auto [joins, leaves] = p.visit_of(c);
    all.observations += leaves - joins;
    ++change[static_cast<std::size_t>(joins)];
    --change[static_cast<std::size_t>(leaves)];
  }
  std::int64_t present = 0;
  for (const std::int64_t each : change) {
    present += each;
    all.most_at_once = std::max(all.most_at_once, present);
  }
  return all;
}

// The memory that the places of the host of place 0 need together, in bytes. `windows` is the
// number of windows that they have at once, and `copies` how many times they have the observations
// when the run ends. During the run place 0 has two copies of the board. For the check it has
// three, and the observations also in the order of the generations.
inline double bytes(const plan& p, const visits& v, double windows, double copies) {
  const double size = p.size;
  const double board = sizeof(cell) * size * size;
  const double window = sizeof(cell) * window_size * size;
  const double seen = sizeof(observation) * static_cast<double>(v.observations);
  return std::max(2 * board + windows * window + copies * seen, 3 * board + 2 * seen);
}

}  // namespace life

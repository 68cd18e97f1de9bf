// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options and the check of life, which are the same in plain MPI (apps/peers). Does not use the
// library.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "life/plan.hpp"
#include "life/replay.hpp"
#include "life/server.hpp"
#include "support/command_line.hpp"
#include "support/report.hpp"

namespace life {

inline void declare(apps::command_line& line, plan& p) {
  line.option("-n,--size", p.size, window_size, 1'000'000, "rows, and columns, of the board");
  line.option("--generations", p.generations, 1, 1'000'000, "generations that are computed");
  line.option("--clients", p.clients, 0, 100'000, "clients that join and leave, at all places");
  line.option("--seed", p.seed, 0, 1'000'000'000, "of the board and of what the clients do");
}

struct checked {
  bool verified;
  apps::figures figures;
};

// Compares the last board and the log with a serial replay.
inline checked check(const plan& p, const served& found) {
  const replayed expected = replay(p, found.log);
  const std::size_t cells = std::min(found.board.size(), expected.board.size());
  auto different = static_cast<std::int64_t>(std::max(found.board.size(), expected.board.size()) -
                                             cells);  // too many, or missing
  for (std::size_t i = 0; i < cells; ++i) {
    different += found.board[i] != expected.board[i] ? 1 : 0;
  }
  return {different == 0 && expected.wrong == 0 && expected.lost == 0,
          {{"size", p.size},
           {"generations", p.generations},
           {"clients", p.clients},
           {"insertions", expected.insertions},
           {"observations", expected.observations},
           {"different", different},
           {"wrong", expected.wrong},
           {"lost", expected.lost},
           {"serial_seconds", expected.seconds}}};
}

}  // namespace life

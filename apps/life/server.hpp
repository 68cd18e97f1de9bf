// SPDX-License-Identifier: Apache-2.0
#pragma once

// The server has the board at place 0. Clients are tasks at any place. They and the server are
// registered on one phaser, whose phase g is the time in which generation g can be read:
//
//   server   computes generation g + 1 in other memory, and adds what was put in during phase g - 1
//   clients  read their windows of generation g, put patterns in, and bring in further clients
//
// A task that is spawned in phase g takes part in phase g, and the phase is complete when all of
// them have signalled it. So no client sees a board that is being computed, and a client may join
// or leave in every phase.

#include <vector>

#include "life/board.hpp"
#include "life/plan.hpp"
#include "life/replay.hpp"

namespace life {

struct served {
  double seconds = 0;
  std::vector<cell> board;  // the last generation
  record log;
};

// Runs the server and its clients. Context: a task at place 0; may suspend.
served serve(const plan& p);

}  // namespace life

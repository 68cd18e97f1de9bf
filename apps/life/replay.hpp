// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "life/board.hpp"
#include "life/plan.hpp"

namespace life {

// An observation of a client.
struct observation {
  int client;
  std::int64_t phase;       // that the client's phaser reported
  std::int64_t generation;  // with which the server had marked the board
  std::uint64_t hash;       // of the client's window
};

// The records of the server.
struct record {
  std::vector<std::vector<insertion>> put_in;  // by phase
  std::vector<observation> seen;               // by all clients, in the order in which they left
};

struct replayed {
  double seconds = 0;             // of the generations, without the comparisons
  std::int64_t insertions = 0;    // in the log
  std::int64_t observations = 0;  // in the log
  std::int64_t wrong = 0;         // observations that are missing, out of order or different
  std::int64_t lost = 0;          // insertions of the plan that are not in the log, or vice versa
  std::vector<cell> board;        // the last generation
};

// Computes all generations again, serially, with the insertions of the plan. Compares the recorded
// insertions with those of the plan, and what each client saw with the generations. A client must
// have seen each generation of its visit once, in order. Requires: the log has all phases.
replayed replay(const plan& p, const record& log);

}  // namespace life

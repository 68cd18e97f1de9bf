// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seeded plan of a run: when each client comes and goes, and what it does. It depends on
// nothing else, so that every place can compute it.

#include <algorithm>
#include <cstdint>

#include "life/board.hpp"
#include "support/random_word.hpp"

namespace life {

struct plan {
  int size = 512;         // rows, and columns, of the board
  int generations = 200;  // that the server computes
  int clients = 40;       // that join and leave
  std::int64_t seed = 1;

  // A number in [0, below), for use `use` of client c in phase g.
  [[nodiscard]] int draw(int c, int g, int use, int below) const {
    const auto index = (static_cast<std::uint64_t>(c) << 36) +
                       (static_cast<std::uint64_t>(g) << 4) + static_cast<std::uint64_t>(use);
    const auto word = apps::random_word(static_cast<std::uint64_t>(seed) + 1, index);
    return static_cast<int>(word % static_cast<std::uint64_t>(below));
  }

  // A client takes part in the phases [joins, leaves).
  struct visit {
    int joins;
    int leaves;
  };
  // Every other client is brought in by the client before it, during that client's visit.
  [[nodiscard]] static bool brought_in(int c) { return c % 2 == 1; }
  [[nodiscard]] visit visit_of(int c) const {
    int first = 0;
    int last = generations;
    if (brought_in(c)) {
      const visit host = visit_of(c - 1);
      first = host.joins;
      last = host.leaves;
    }
    const int joins = first + draw(c, 0, 0, last - first);
    const int longest = std::max(1, generations / 4);
    return {joins, std::min(generations, joins + 1 + draw(c, 0, 1, longest))};
  }
  [[nodiscard]] int place_of(int c, int places) const { return draw(c, 0, 2, places); }

  // The upper left corner of the window that client c watches.
  [[nodiscard]] int row_of(int c) const { return draw(c, 0, 3, size - window_size + 1); }
  [[nodiscard]] int column_of(int c) const { return draw(c, 0, 4, size - window_size + 1); }

  // Whether client c puts a pattern in during phase g. It does in a third of the phases, and not if
  // the cells would be alive only after the last generation.
  [[nodiscard]] bool puts(int c, int g) const {
    return g + 2 <= generations && draw(c, g, 5, 3) == 0;
  }
  [[nodiscard]] insertion insertion_of(int c, int g) const {
    return {g, c, draw(c, g, 6, patterns), draw(c, g, 7, size - pattern_size + 1),
            draw(c, g, 8, size - pattern_size + 1)};
  }
};

}  // namespace life

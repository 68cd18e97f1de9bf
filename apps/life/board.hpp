// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules of Conway's game of life on a torus, and patterns to put in. Does not use the library,
// so that the replay, which checks the server, is independent of it.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace life {

using cell = std::uint8_t;  // 1 if alive

// A square window of the board that a client watches.
inline constexpr int window_size = 16;

// A pattern that a client puts in. It fits into the board without crossing its edge.
struct insertion {
  int phase;    // in which it was put in; the cells are alive from generation phase + 2 on
  int client;   // that put it in
  int pattern;  // as for put()
  int row;      // of the upper left corner
  int column;

  friend auto operator<=>(const insertion&, const insertion&) = default;
};

inline constexpr int patterns = 4;      // blinker, glider, R-pentomino, spaceship
inline constexpr int pattern_size = 5;  // no pattern has more rows or columns

// The seeded first generation: a quarter of the cells are alive.
void fill(std::span<cell> board, std::int64_t seed);

// Computes a row of the next generation of a board with `size` columns.
void advance_row(std::span<const cell> board, std::span<cell> next, std::size_t size,
                 std::size_t row);

// Makes the cells of the pattern alive, whatever is there.
void put(std::span<cell> board, std::size_t size, const insertion& what);

// A hash of the window whose upper left corner is (0, column) of the given rows.
std::uint64_t hash_window(std::span<const cell> rows, std::size_t size, int column);

}  // namespace life

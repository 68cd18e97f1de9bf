// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "life/board.hpp"
#include "support/random_word.hpp"

namespace life {
namespace {

cell next_state(int alive_in_square, cell now) {
  // The square of nine cells includes the cell itself.
  return alive_in_square == 3 || (alive_in_square == 4 && now != 0) ? 1 : 0;
}

// Rows are separated by spaces.
constexpr std::array<std::string_view, patterns> shapes = {
    "ooo",
    ".o. ..o ooo",
    ".oo oo. .o.",
    ".o..o o.... o...o oooo.",
};

}  // namespace

void fill(std::span<cell> board, std::int64_t seed) {
  for (std::size_t i = 0; i < board.size(); ++i) {
    board[i] = apps::random_word(static_cast<std::uint64_t>(seed), i) % 4 == 0 ? 1 : 0;
  }
}

void advance_row(std::span<const cell> board, std::span<cell> next, std::size_t size,
                 std::size_t row) {
  const cell* const above = &board[(row + size - 1) % size * size];
  const cell* const here = &board[row * size];
  const cell* const below = &board[(row + 1) % size * size];
  cell* const to = &next[row * size];
  const auto column = [=](std::size_t j) { return above[j] + here[j] + below[j]; };
  const std::size_t last = size - 1;
  to[0] = next_state(column(last) + column(0) + column(1), here[0]);
  for (std::size_t j = 1; j < last; ++j) {
    to[j] = next_state(column(j - 1) + column(j) + column(j + 1), here[j]);
  }
  to[last] = next_state(column(last - 1) + column(last) + column(0), here[last]);
}

void put(std::span<cell> board, std::size_t size, const insertion& what) {
  auto row = static_cast<std::size_t>(what.row);
  auto column = static_cast<std::size_t>(what.column);
  for (const char c : shapes[static_cast<std::size_t>(what.pattern)]) {
    if (c == ' ') {
      ++row;
      column = static_cast<std::size_t>(what.column);
      continue;
    }
    if (c == 'o') board[row * size + column] = 1;
    ++column;
  }
}

std::uint64_t hash_window(std::span<const cell> rows, std::size_t size, int column) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < window_size; ++i) {
    for (std::size_t j = 0; j < window_size; ++j) {
      hash = apps::random_word(hash ^ rows[i * size + static_cast<std::size_t>(column) + j]);
    }
  }
  return hash;
}

}  // namespace life

// SPDX-License-Identifier: Apache-2.0

// Counts the ways to place n queens on an n x n board so that no queen attacks another. Each safe
// square of a row is a task; solutions are offered to the collecting finish.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using squares = std::uint32_t;  // the squares of a row, one bit per column

// The rows filled so far, as seen from the next row: the squares that are attacked.
struct board {
  squares all;
  squares columns = 0;
  squares left = 0;   // along the diagonals to the left
  squares right = 0;  // along the diagonals to the right

  [[nodiscard]] bool complete() const { return columns == all; }
  [[nodiscard]] squares safe() const { return all & ~(columns | left | right); }
  [[nodiscard]] board with(squares queen) const {
    return {all, columns | queen, (left | queen) << 1U, (right | queen) >> 1U};
  }
};

board empty_board(int n) { return {.all = (squares{1} << static_cast<unsigned>(n)) - 1}; }

squares lowest(squares s) { return s & (~s + 1); }

std::int64_t count_serial(const board& b) {
  if (b.complete()) return 1;
  std::int64_t solutions = 0;
  for (squares s = b.safe(); s != 0; s &= s - 1) solutions += count_serial(b.with(lowest(s)));
  return solutions;
}

void place_queens(const board& b) {
  if (b.complete()) return apgas::offer(std::int64_t{1});
  for (squares s = b.safe(); s != 0; s &= s - 1) {
    apgas::async([next = b.with(lowest(s))] { place_queens(next); });
  }
}

std::int64_t count_collecting(const board& b) {
  return apgas::finish_reduce(std::int64_t{0}, std::plus<>{}, [&b] { place_queens(b); });
}

// The same as a reduction over the squares of each row.
std::int64_t count_reducing(const board& b) {
  if (b.complete()) return 1;
  std::array<squares, 32> queens{};
  const squares safe = b.safe();
  int choices = 0;
  for (squares s = safe; s != 0; s &= s - 1) {
    queens[static_cast<std::size_t>(choices++)] = lowest(s);
  }
  const auto count = [&](int i) {
    return count_reducing(b.with(queens[static_cast<std::size_t>(i)]));
  };
  return apgas::parallel_reduce(0, choices, std::int64_t{0}, count, std::plus<>{});
}

// A000170 of the On-Line Encyclopedia of Integer Sequences.
constexpr std::array<std::int64_t, 19> known = {
    1,   1,     0,      0,      2,       10,        4,          40,         92,         352,
    724, 2'680, 14'200, 73'712, 365'596, 2'279'184, 14'772'512, 95'815'104, 666'090'624};

std::int64_t count(const std::string& variant, const board& b) {
  if (variant == "reduce") return count_reducing(b);
  if (variant == "serial") return count_serial(b);
  return count_collecting(b);
}

int count_and_report(const std::string& variant, int n) {
  const apps::stopwatch clock;
  const std::int64_t solutions = count(variant, empty_board(n));
  const double seconds = clock.seconds();
  const bool verified = solutions == known[static_cast<std::size_t>(n)];
  return apps::report("nqueens", seconds, verified,
                      {{"variant", variant}, {"n", n}, {"solutions", solutions}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 12;
  std::string variant = "finish";
  apps::command_line line("nqueens", "Counts the solutions of the n queens problem.");
  line.option("-n,--n", n, 1, static_cast<int>(known.size()) - 1, "queens, and size of the board");
  line.choice("--variant", variant, {"finish", "reduce", "serial"}, "how to search");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] { return count_and_report(variant, n); });
}

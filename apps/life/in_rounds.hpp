// SPDX-License-Identifier: Apache-2.0
#pragma once

// The same game without tasks: a loop for each phase, over the rows of the board and the clients
// that take part in it, serially or by the threads of OpenMP. The clients read the board in place.
// Does not use the library.

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "life/board.hpp"
#include "life/plan.hpp"
#include "life/replay.hpp"
#include "life/server.hpp"
#include "support/stopwatch.hpp"

namespace life {

struct serially {
  template <class F>
  void operator()(std::size_t n, F f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
};

#if defined(_OPENMP)
class by_openmp {
 public:
  explicit by_openmp(int threads) : threads_(threads) {}

  template <class F>
  void operator()(std::size_t n, F f) const {
#pragma omp parallel for num_threads(threads_) schedule(static, 16)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }

 private:
  int threads_;
};
#endif

template <class Loop>
served serve_in_rounds(const plan& p, const Loop& loop) {
  const auto size = static_cast<std::size_t>(p.size);
  const auto generations = static_cast<std::size_t>(p.generations);
  served result;
  result.log.put_in.resize(generations);
  result.board.resize(size * size);
  fill(result.board, p.seed);
  std::vector<cell> next(size * size);
  std::vector<std::vector<observation>> seen(static_cast<std::size_t>(p.clients));
  std::vector<std::vector<int>> joining(generations);
  for (int c = 0; c < p.clients; ++c) {
    joining[static_cast<std::size_t>(p.visit_of(c).joins)].push_back(c);
  }
  std::vector<int> present;
  const apps::stopwatch clock;
  for (int g = 0; g < p.generations; ++g) {
    const auto phase = static_cast<std::size_t>(g);
    std::erase_if(present, [&](int c) { return p.visit_of(c).leaves == g; });
    present.insert(present.end(), joining[phase].begin(), joining[phase].end());
    std::vector<std::optional<insertion>> chosen(present.size());
    loop(size + present.size(), [&](std::size_t i) {
      if (i < size) return advance_row(result.board, next, size, i);
      const int c = present[i - size];
      const std::span<const cell> board = result.board;
      const auto rows = board.subspan(static_cast<std::size_t>(p.row_of(c)) * size);
      seen[static_cast<std::size_t>(c)].push_back(
          {c, g, g, hash_window(rows, size, p.column_of(c))});
      if (p.puts(c, g)) chosen[i - size] = p.insertion_of(c, g);
    });
    for (const auto& each : chosen) {
      if (each) result.log.put_in[phase].push_back(*each);
    }
    if (g > 0) {
      for (const insertion& each : result.log.put_in[phase - 1]) put(next, size, each);
    }
    std::swap(result.board, next);
  }
  result.seconds = clock.seconds();
  for (const auto& each : seen) {
    result.log.seen.insert(result.log.seen.end(), each.begin(), each.end());
  }
  return result;
}

}  // namespace life

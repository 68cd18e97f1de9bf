// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <span>

#include "life/replay.hpp"
#include "support/stopwatch.hpp"

namespace life {
namespace {

// The observations by generation. Counts those that are missing or out of order.
std::vector<std::vector<observation>> in_order(const plan& p, const record& log,
                                               std::int64_t& wrong) {
  std::vector<std::vector<observation>> of_generation(static_cast<std::size_t>(p.generations));
  std::vector<int> next;
  next.reserve(static_cast<std::size_t>(p.clients));
  for (int c = 0; c < p.clients; ++c) next.push_back(p.visit_of(c).joins);
  for (const observation& o : log.seen) {
    int& expected = next[static_cast<std::size_t>(o.client)];
    if (o.generation != expected || o.phase != expected || expected >= p.generations) {
      ++wrong;
      continue;
    }
    of_generation[static_cast<std::size_t>(expected)].push_back(o);
    ++expected;
  }
  for (int c = 0; c < p.clients; ++c) {
    wrong += std::abs(p.visit_of(c).leaves - next[static_cast<std::size_t>(c)]);
  }
  return of_generation;
}

std::int64_t planned_insertions(const plan& p, int phase) {
  std::int64_t planned = 0;
  for (int c = 0; c < p.clients; ++c) {
    const auto [joins, leaves] = p.visit_of(c);
    planned += joins <= phase && phase < leaves && p.puts(c, phase) ? 1 : 0;
  }
  return planned;
}

bool saw(const plan& p, std::span<const cell> board, const observation& o) {
  const auto size = static_cast<std::size_t>(p.size);
  const auto rows = board.subspan(static_cast<std::size_t>(p.row_of(o.client)) * size);
  return hash_window(rows, size, p.column_of(o.client)) == o.hash;
}

}  // namespace

replayed replay(const plan& p, const record& log) {
  replayed result;
  const auto size = static_cast<std::size_t>(p.size);
  const auto seen = in_order(p, log, result.wrong);
  std::vector<cell> next(size * size);
  result.board.resize(size * size);
  fill(result.board, p.seed);
  for (int g = 0; g < p.generations; ++g) {
    const auto& in_phase = log.put_in[static_cast<std::size_t>(g)];
    const auto put_in = static_cast<std::int64_t>(in_phase.size());
    result.insertions += put_in;
    result.lost += std::abs(put_in - planned_insertions(p, g));
    for (const observation& o : seen[static_cast<std::size_t>(g)]) {
      ++result.observations;
      result.wrong += saw(p, result.board, o) ? 0 : 1;
    }
    const apps::stopwatch clock;
    for (std::size_t row = 0; row < size; ++row) advance_row(result.board, next, size, row);
    if (g > 0) {
      for (const insertion& each : log.put_in[static_cast<std::size_t>(g) - 1]) {
        put(next, size, each);
      }
    }
    std::swap(result.board, next);
    result.seconds += clock.seconds();
  }
  return result;
}

}  // namespace life

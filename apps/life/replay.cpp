// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>

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
    if (o.client < 0 || o.client >= p.clients) {
      ++wrong;
      continue;
    }
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

std::vector<insertion> planned_insertions(const plan& p, int phase) {
  std::vector<insertion> planned;
  for (int c = 0; c < p.clients; ++c) {
    const auto [joins, leaves] = p.visit_of(c);
    if (joins <= phase && phase < leaves && p.puts(c, phase)) {
      planned.push_back(p.insertion_of(c, phase));
    }
  }
  return planned;
}

// How many insertions are in one of the lists and not in the other.
std::int64_t in_one_alone(std::vector<insertion> a, std::vector<insertion> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::vector<insertion> apart;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(apart));
  return std::ssize(apart);
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
  std::vector<insertion> of_phase_before;
  std::vector<cell> next(size * size);
  result.board.resize(size * size);
  fill(result.board, p.seed);
  for (int g = 0; g < p.generations; ++g) {
    const auto& in_phase = log.put_in[static_cast<std::size_t>(g)];
    std::vector<insertion> planned = planned_insertions(p, g);
    result.insertions += std::ssize(in_phase);
    result.lost += in_one_alone(in_phase, planned);
    for (const observation& o : seen[static_cast<std::size_t>(g)]) {
      ++result.observations;
      result.wrong += saw(p, result.board, o) ? 0 : 1;
    }
    const apps::stopwatch clock;
    for (std::size_t row = 0; row < size; ++row) advance_row(result.board, next, size, row);
    for (const insertion& each : of_phase_before) put(next, size, each);
    of_phase_before = std::move(planned);
    std::swap(result.board, next);
    result.seconds += clock.seconds();
  }
  return result;
}

}  // namespace life

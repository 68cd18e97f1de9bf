// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include <apgas/apgas.hpp>

#include "life/client.hpp"
#include "life/server.hpp"
#include "support/stopwatch.hpp"

namespace life {
namespace {

using board_view = std::span<cell>;

board_view view(const board_memory& memory, const plan& p, int generation) {
  const auto size = static_cast<std::size_t>(p.size);
  return {memory.copy_of(generation).local(), size * size};
}

// Computes generation g + 1 in phase g.
void advance(const board_memory& memory, const plan& p, int g) {
  const auto size = static_cast<std::size_t>(p.size);
  const board_view now = view(memory, p, g);
  const board_view next = view(memory, p, g + 1);
  apgas::forall(std::size_t{0}, size, [&](std::size_t row) { advance_row(now, next, size, row); });
  if (g > 0) {
    for (const insertion& each : memory.log->of_phase(g - 1)) put(next, size, each);
  }
  *memory.number_of(g + 1).local() = g + 1;
}

// Context: a task at place 0; returns when the last client has left.
void run_phases(const board_memory& memory, const plan& p) {
  std::vector<std::vector<int>> joining(static_cast<std::size_t>(p.generations));
  for (int c = 0; c < p.clients; ++c) {
    if (plan::brought_in(c)) continue;
    joining[static_cast<std::size_t>(p.visit_of(c).joins)].push_back(c);
  }
  apgas::finish([&] {
    const server_handle server{apgas::phaser(), memory};
    for (int g = 0; g < p.generations; ++g) {
      for (const int c : joining[static_cast<std::size_t>(g)]) bring_in(server, p, c);
      advance(memory, p, g);
      server.turn.next();
    }
  });
}

}  // namespace

served serve(const plan& p) {
  const auto cells = static_cast<std::size_t>(p.size) * static_cast<std::size_t>(p.size);
  const apgas::place here = apgas::here();
  const board_memory memory{.log = apgas::make_global<visit_log>(p),
                            .even = apgas::allocate<cell>(here, cells),
                            .odd = apgas::allocate<cell>(here, cells),
                            .numbers = apgas::allocate<std::int64_t>(here, 2)};
  fill(view(memory, p, 0), p.seed);
  *memory.number_of(0).local() = 0;
  served result;
  const apps::stopwatch clock;
  run_phases(memory, p);
  result.seconds = clock.seconds();
  const board_view last = view(memory, p, p.generations);
  result.board.assign(last.begin(), last.end());
  result.log = memory.log->log();
  apgas::deallocate(memory.even);
  apgas::deallocate(memory.odd);
  apgas::deallocate(memory.numbers);
  memory.log.forget();
  return result;
}

}  // namespace life

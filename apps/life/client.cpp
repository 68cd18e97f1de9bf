// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include "life/client.hpp"

namespace life {
namespace {

// Reads client c's window of a generation.
observation watch(const server_handle& server, const plan& p, int c, int generation,
                  std::vector<cell>& rows) {
  const auto size = static_cast<std::ptrdiff_t>(p.size);
  apgas::copy(server.memory.copy_of(generation) + p.row_of(c) * size, std::span(rows));
  return {c, server.turn.phase(), apgas::rget(server.memory.number_of(generation)),
          hash_window(rows, static_cast<std::size_t>(size), p.column_of(c))};
}

// Context: a task at the place of client c, registered on the phaser; may suspend.
void take_part(const server_handle& server, const plan& p, int c) {
  const auto [joins, leaves] = p.visit_of(c);
  const apgas::place home = server.memory.log.home();
  const int next = c + 1;
  const bool brings_next = next < p.clients && plan::brought_in(next);
  const int next_joins = brings_next ? p.visit_of(next).joins : -1;
  std::vector<cell> rows(static_cast<std::size_t>(window_size * p.size));
  std::vector<observation> seen;
  for (int g = joins; g < leaves; ++g) {
    seen.push_back(watch(server, p, c, g, rows));
    if (g == next_joins) bring_in(server, p, next);
    if (p.puts(c, g)) {
      apgas::at(
          home,
          [](const apgas::global_ref<visit_log>& log, const insertion& what) { log->put_in(what); },
          server.memory.log, p.insertion_of(c, g));
    }
    if (g + 1 < leaves) server.turn.next();
  }
  server.turn.drop();
  apgas::at(
      home,
      [](const apgas::global_ref<visit_log>& log, const std::vector<observation>& all) {
        log->leave(all);
      },
      server.memory.log, seen);
}

}  // namespace

void bring_in(const server_handle& server, const plan& p, int c) {
  const apgas::place where(p.place_of(c, apgas::num_places()));
  apgas::async_at(
      where, apgas::phased(server.turn, apgas::phaser_mode::signal_wait),
      [](const server_handle& s, const plan& all, int client) { take_part(s, all, client); },
      server, p, c);
}

}  // namespace life

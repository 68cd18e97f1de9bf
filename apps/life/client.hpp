// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <apgas/apgas.hpp>

#include "life/board.hpp"
#include "life/plan.hpp"
#include "life/replay.hpp"

namespace life {

// The log of the server. Several clients may call it at the same time.
class visit_log {
 public:
  explicit visit_log(const plan& p) { log_.put_in.resize(static_cast<std::size_t>(p.generations)); }

  // Context: task. May suspend.
  void put_in(const insertion& what) {
    guard_.atomic([&] { log_.put_in[static_cast<std::size_t>(what.phase)].push_back(what); });
  }
  void leave(const std::vector<observation>& seen) {
    guard_.atomic([&] { log_.seen.insert(log_.seen.end(), seen.begin(), seen.end()); });
  }
  // Requires: the phase is over.
  [[nodiscard]] const std::vector<insertion>& of_phase(int g) const {
    return log_.put_in[static_cast<std::size_t>(g)];
  }
  [[nodiscard]] const record& log() const { return log_; }

 private:
  apgas::monitor guard_;
  record log_;
};

// The server's memory at place 0.
struct board_memory {
  apgas::global_ref<visit_log> log;
  // The copies of the board, for even and for odd generations.
  apgas::global_ptr<cell> even;
  apgas::global_ptr<cell> odd;
  // The numbers of the generations that these copies have.
  apgas::global_ptr<std::int64_t> numbers;

  [[nodiscard]] apgas::global_ptr<cell> copy_of(int generation) const {
    return generation % 2 == 0 ? even : odd;
  }
  [[nodiscard]] apgas::global_ptr<std::int64_t> number_of(int generation) const {
    return numbers + generation % 2;
  }
};

// What a client knows of the server. Sent as bytes.
struct server_handle {
  apgas::phaser turn;
  board_memory memory;
};

// Spawns client c at its place. The caller must be registered on the phaser, and in the phase in
// which the client joins. Context: task; may suspend.
void bring_in(const server_handle& server, const plan& p, int c);

}  // namespace life

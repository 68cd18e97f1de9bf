// SPDX-License-Identifier: Apache-2.0

// A server for the game of life. A phaser keeps the server and its clients, at any place, in
// lock-step; clients join and leave in any phase. See server.hpp.

#include <apgas/apgas.hpp>

#include "life/plan.hpp"
#include "life/replay.hpp"
#include "life/server.hpp"
#include "support/command_line.hpp"
#include "support/report.hpp"

namespace {

int serve_and_report(const life::plan& p) {
  const life::served found = life::serve(p);
  const life::replayed expected = life::replay(p, found.log);
  std::int64_t different = 0;
  for (std::size_t i = 0; i < expected.board.size(); ++i) {
    different += found.board[i] != expected.board[i] ? 1 : 0;
  }
  const bool verified = different == 0 && expected.wrong == 0 && expected.lost == 0;
  return apps::report("life", found.seconds, verified,
                      {{"size", p.size},
                       {"generations", p.generations},
                       {"clients", p.clients},
                       {"insertions", expected.insertions},
                       {"observations", expected.observations},
                       {"different", different},
                       {"wrong", expected.wrong},
                       {"lost", expected.lost},
                       {"serial_seconds", expected.seconds}});
}

}  // namespace

int main(int argc, char** argv) {
  life::plan p;
  apps::command_line line("life", "A game of life whose clients join and leave in lock-step.");
  line.option("-n,--size", p.size, life::window_size, 16384, "rows, and columns, of the board");
  line.option("--generations", p.generations, 1, 1'000'000, "generations that are computed");
  line.option("--clients", p.clients, 0, 100'000, "clients that join and leave, at all places");
  line.option("--seed", p.seed, 0, 1'000'000'000, "of the board and of what the clients do");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&p] { return serve_and_report(p); });
}

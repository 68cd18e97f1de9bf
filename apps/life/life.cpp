// SPDX-License-Identifier: Apache-2.0

// A server for the game of life. A phaser keeps the server and its clients, at any place, in
// lock-step; clients join and leave in any phase. See server.hpp.

#include <apgas/apgas.hpp>

#include "life/memory.hpp"
#include "life/outcome.hpp"
#include "life/plan.hpp"
#include "life/server.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"

namespace {

int serve_and_report(const life::plan& p) {
  const life::served found = life::serve(p);
  const life::checked result = life::check(p, found);
  return apps::report("life", found.seconds, result.verified, result.figures);
}

}  // namespace

int main(int argc, char** argv) {
  life::plan p;
  apps::command_line line("life", "A game of life whose clients join and leave in lock-step.");
  life::declare(line, p);
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    const life::visits v = life::visits_of(p);
    const double windows =
        static_cast<double>(v.most_at_once) * apps::placement_of_job().part_on_host();
    if (const auto problem = apps::beyond_memory(life::bytes(p, v, windows, 1)); !problem.empty()) {
      return line.refuse("--size, --generations and --clients: " + problem + "; choose fewer");
    }
    return serve_and_report(p);
  });
}

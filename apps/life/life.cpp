// SPDX-License-Identifier: Apache-2.0

// A server for the game of life. A phaser keeps the server and its clients, at any place, in
// lock-step; clients join and leave in any phase. See server.hpp, and in_rounds.hpp for the
// variants at one place.

#include <optional>
#include <string>

#include <apgas/apgas.hpp>

#include "life/in_rounds.hpp"
#include "life/memory.hpp"
#include "life/outcome.hpp"
#include "life/plan.hpp"
#include "life/server.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"

namespace {

life::served run(const life::plan& p, const std::string& variant,
                 [[maybe_unused]] std::optional<apps::peer_thread>& peer) {
  if (variant == "serial") return life::serve_in_rounds(p, life::serially());
#if defined(_OPENMP)
  if (peer) {
    life::served found;
    peer->run([&, threads = apgas::num_workers()] {
      found = life::serve_in_rounds(p, life::by_openmp(threads));
    });
    return found;
  }
#endif
  return life::serve(p);
}

int serve_and_report(const life::plan& p, const std::string& variant,
                     std::optional<apps::peer_thread>& peer) {
  const life::served found = run(p, variant, peer);
  life::checked result = life::check(p, found);
  result.figures.insert(result.figures.begin(), {"variant", variant});
  return apps::report("life", found.seconds, result.verified, result.figures);
}

}  // namespace

int main(int argc, char** argv) {
  life::plan p;
  std::string variant = "places";
  apps::command_line line("life", "A game of life whose clients join and leave in lock-step.");
  life::declare(line, p);
  apps::declare_variant_beside_openmp(line, variant, {"places", "serial"},
                                      "clients at all places, or loops at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  std::optional<apps::peer_thread> peer;
  if (apps::is_peer(variant)) peer.emplace();
  return apgas::run(argc, argv, [&] {
    const life::visits v = life::visits_of(p);
    const double windows =
        static_cast<double>(v.most_at_once) * apps::placement_of_job().part_on_host();
    if (const auto problem = apps::beyond_memory(life::bytes(p, v, windows, 1)); !problem.empty()) {
      return line.refuse("--size, --generations and --clients: " + problem + "; choose fewer");
    }
    return serve_and_report(p, variant, peer);
  });
}

// SPDX-License-Identifier: Apache-2.0

// Shortest paths from one vertex of a Kronecker graph with random weights to all others: by delta
// stepping over all places or by OpenMP, or by Dijkstra's algorithm at one place.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "sssp/by_openmp.hpp"
#include "sssp/options.hpp"
#include "sssp/portion.hpp"
#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/memory.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using sssp::arcs;
using sssp::length;
using sssp::plan;

struct outcome {
  std::vector<length> lengths;
  double seconds = 0;
  std::int64_t rounds = 0;
};

outcome search_everywhere(const plan& p, length delta, std::size_t root) {
  const apgas::dist_array<length> lengths(static_cast<std::size_t>(p.graph().vertices()),
                                          apgas::distribution::cyclic(),
                                          [](std::size_t) { return sssp::unreached; });
  struct figures {
    std::int64_t rounds;
    double seconds;
  };
  std::vector<apgas::future<figures>> portions;
  for (const apgas::place q : apgas::places()) {
    portions.push_back(apgas::async_future_at(q, [p, delta, root, lengths] {
      const apgas::team team = apgas::team::world();
      sssp::portion mine(p, delta, lengths.local(), team);
      team.barrier();
      const apps::stopwatch clock;
      const std::int64_t rounds = mine.search(static_cast<sssp::vertex>(root));
      return figures{rounds, clock.seconds()};
    }));
  }
  const figures f = portions.front().get();
  for (const auto& each : portions) each.wait();
  outcome o{lengths.gather(), f.seconds, f.rounds};
  lengths.destroy();
  return o;
}

outcome search_serially(const arcs& graph, std::size_t root) {
  const apps::stopwatch clock;
  std::vector<length> lengths = sssp::dijkstra(graph, root);
  return {std::move(lengths), clock.seconds(), 0};
}

outcome search_by_peer([[maybe_unused]] const arcs& graph, [[maybe_unused]] std::size_t root,
                       [[maybe_unused]] length delta, apps::peer_thread& peer) {
  outcome o;
  peer.run([&, threads = apgas::num_workers()] {
    const apps::stopwatch clock;
#if defined(_OPENMP)
    sssp::openmp_result found = sssp::search_by_openmp(graph, root, delta, threads);
    o = {std::move(found.lengths), 0, found.rounds};
#endif
    o.seconds = clock.seconds();
  });
  return o;
}

int search_and_report(const sssp::options& o, std::optional<apps::peer_thread>& peer) {
  const arcs graph = sssp::whole_graph(o.graph);
  const std::size_t root = sssp::root_of(graph);
  const outcome found = peer                    ? search_by_peer(graph, root, o.delta, *peer)
                        : o.variant == "serial" ? search_serially(graph, root)
                                                : search_everywhere(o.graph, o.delta, root);
  const sssp::summary s = sssp::summarise(graph, found.lengths, root);
  return apps::report("sssp", found.seconds, s.wrong == 0, o.figures(s, found.rounds));
}

}  // namespace

int main(int argc, char** argv) {
  sssp::options o;
  apps::command_line line("sssp", "Finds shortest paths by delta stepping over all places.");
  o.declare(line);
  apps::declare_variant_beside_openmp(line, o.variant, {"delta", "serial"},
                                      "delta stepping, or Dijkstra's algorithm at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  std::optional<apps::peer_thread> peer;
  if (apps::is_peer(o.variant)) peer.emplace();
  return apgas::run(argc, argv, [&] {
    const apps::placement p = apps::placement_of_job();
    const double bytes = o.bytes_of_an_edge(p, apps::copies_in_exchange(p.places));
    if (const auto code = o.graph.refused(line, bytes)) return *code;
    return search_and_report(o, peer);
  });
}

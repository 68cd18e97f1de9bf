// SPDX-License-Identifier: Apache-2.0

// Counts the triangles of a Kronecker graph (R-MAT). Each vertex keeps the neighbours of higher
// rank. A triangle is found at its vertex of middle rank, which compares its own list with that of
// the lowest: the lists of all vertices are sent to the places of their members, in one exchange.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "bfs/dealing.hpp"
#include "bfs/graph_options.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/memory.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"
#include "triangles/oriented_graph.hpp"
#include "triangles/whole_graph.hpp"

namespace {

using triangles::edge;
using triangles::list;
using triangles::portion;

// A collective: each place generates some of the edges, and learns the degrees of all vertices.
portion make_portion(const bfs::graph_options& p, const apgas::team& team) {
  const bfs::dealing dealt{static_cast<std::int64_t>(team.size()),
                           static_cast<std::int64_t>(team.index())};
  const std::int64_t vertices = p.graph().vertices();
  std::vector<edge> edges = apps::exchange(team, bfs::share_of_edges(p.graph(), dealt)).values;
  triangles::normalise(edges);
  std::vector<std::int32_t> degrees = triangles::degrees_of(edges, vertices);
  team.allreduce(std::span(degrees), std::plus<>());
  const std::vector<triangles::rank> ranks = triangles::ranks_of(degrees);
  return {dealt, vertices, apps::exchange(team, triangles::oriented(edges, ranks, dealt)).values};
}

// A task counts with so many lists before it looks whether a worker is idle. The lists of a few
// vertices take most of the time.
constexpr std::ptrdiff_t lists_at_once = 64;

// A collective: the number of triangles that are found at this place.
std::int64_t count(const portion& mine, const apgas::team& team) {
  const auto sum = [&mine](std::size_t lists, const auto& list_at) {
    return apgas::parallel_reduce(
        std::size_t{0}, lists, std::int64_t{0},
        [&](std::size_t i) { return mine.count_with(list_at(i)); }, std::plus<>(), lists_at_once);
  };
  std::int64_t found = sum(mine.size(), [&](std::size_t v) { return mine.of(v); });
  if (team.size() > 1) {
    const auto came = apps::exchange(team, mine.lists_for_places());
    const std::vector<list> lists = triangles::separate(came.values);
    found += sum(lists.size(), [&](std::size_t i) { return lists[i]; });
  }
  return found;
}

struct outcome {
  std::int64_t triangles = 0;
  double seconds = 0;
};

outcome count_everywhere(const bfs::graph_options& p) {
  std::vector<apgas::future<outcome>> portions;
  for (const apgas::place q : apgas::places()) {
    portions.push_back(apgas::async_future_at(q, [p] {
      const apgas::team team = apgas::team::world();
      const portion mine = make_portion(p, team);
      team.barrier();
      const apps::stopwatch clock;
      const std::int64_t all = team.allreduce(count(mine, team), std::plus<>());
      return outcome{all, clock.seconds()};
    }));
  }
  for (const auto& each : portions) each.wait();
  return portions.front().get();
}

outcome count_serially(const portion& graph) {
  const apps::stopwatch clock;
  std::int64_t count = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) count += graph.count_with(graph.of(v));
  return {count, clock.seconds()};
}

outcome count_by_peer([[maybe_unused]] const portion& graph, apps::peer_thread& peer) {
  outcome o;
  peer.run([&, threads = apgas::num_workers()] {
    [[maybe_unused]] std::int64_t count = 0;
    const apps::stopwatch clock;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64) reduction(+ : count)
    for (std::size_t v = 0; v < graph.size(); ++v) count += graph.count_with(graph.of(v));
#endif
    o = {count, clock.seconds()};
  });
  return o;
}

int count_and_report(const bfs::graph_options& p, const std::string& variant,
                     std::optional<apps::peer_thread>& peer) {
  const std::int64_t vertices = p.graph().vertices();
  const std::vector<edge> edges = triangles::whole_graph(p.graph());
  outcome o;
  if (peer) {
    o = count_by_peer(triangles::at_one_place(edges, vertices), *peer);
  } else if (variant == "serial") {
    o = count_serially(triangles::at_one_place(edges, vertices));
  } else {
    o = count_everywhere(p);
  }
  const std::int64_t expected = triangles::count_by_marks(edges, vertices);
  return apps::report("triangles", o.seconds, o.triangles == expected,
                      {{"variant", variant},
                       {"scale", p.scale},
                       {"edges", static_cast<std::int64_t>(edges.size() / 2)},
                       {"triangles", o.triangles},
                       {"expected", expected}});
}

}  // namespace

int main(int argc, char** argv) {
  bfs::graph_options p;
  std::string variant = "places";
  apps::command_line line("triangles", "Counts the triangles of an R-MAT graph over all places.");
  p.declare(line, triangles::largest_scale, "the graph");
  apps::declare_variant_beside_openmp(line, variant, {"places", "serial"},
                                      "over all places, or serially at one");
  if (const auto code = line.parse(argc, argv)) return *code;
  std::optional<apps::peer_thread> peer;
  if (apps::is_peer(variant)) peer.emplace();
  return apgas::run(argc, argv, [&] {
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    const double bytes = triangles::bytes_of_an_edge(all, apps::copies_in_exchange(all.places));
    if (const auto code = p.refused(line, bytes)) return *code;
    return count_and_report(p, variant, peer);
  });
}

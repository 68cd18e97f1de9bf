// SPDX-License-Identifier: Apache-2.0

// Shortest paths from one vertex of a Kronecker graph with random weights to all others: by delta
// stepping over all places, or by Dijkstra's algorithm at one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "sssp/portion.hpp"
#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using sssp::arcs;
using sssp::length;
using sssp::plan;
using sssp::vertex;

struct outcome {
  std::vector<length> lengths;
  double seconds;
  std::int64_t rounds;
};

outcome search_everywhere(const plan& p, length delta, vertex root) {
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
      const std::int64_t rounds = mine.search(root);
      return figures{rounds, clock.seconds()};
    }));
  }
  const figures f = portions.front().get();
  for (const auto& each : portions) each.wait();
  outcome o{lengths.gather(), f.seconds, f.rounds};
  lengths.destroy();
  return o;
}

outcome search_serially(const arcs& graph, std::size_t vertices, vertex root) {
  const apps::stopwatch clock;
  std::vector<length> lengths = sssp::dijkstra(graph, vertices, root);
  return {std::move(lengths), clock.seconds(), 0};
}

int search_and_report(const plan& p, length delta, const std::string& variant) {
  const bfs::dealing at_one{1, 0};
  const auto vertices = static_cast<std::size_t>(p.graph().vertices());
  const arcs graph(vertices, std::move(sssp::share_of_arcs(p, at_one).front()),
                   [](vertex v) { return static_cast<std::size_t>(v); });
  const vertex root = graph.all().empty() ? 0 : graph.all().front().from;
  const outcome o = variant == "serial" ? search_serially(graph, vertices, root)
                                        : search_everywhere(p, delta, root);
  std::int64_t wrong = sssp::wrong_lengths(graph, o.lengths, root);
  const std::vector<length> expected = sssp::dijkstra(graph, vertices, root);
  for (std::size_t v = 0; v < vertices; ++v) wrong += o.lengths[v] != expected[v] ? 1 : 0;
  length longest = 0;
  std::int64_t reached = 0;
  for (const length each : o.lengths) {
    if (each == sssp::unreached) continue;
    longest = std::max(longest, each);
    ++reached;
  }
  return apps::report("sssp", o.seconds, wrong == 0,
                      {{"variant", variant},
                       {"scale", p.scale},
                       {"delta", delta},
                       {"reached", reached},
                       {"longest", longest},
                       {"rounds", o.rounds},
                       {"wrong", wrong}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.scale = 14, .edge_factor = 16, .seed = 1, .heaviest = 255};
  length delta = 16;
  std::string variant = "delta";
  apps::command_line line("sssp", "Finds shortest paths by delta stepping over all places.");
  line.option("--scale", p.scale, 1, 22, "the graph has 2^scale vertices");
  line.option("--edge-factor", p.edge_factor, 1, 64, "edges per vertex");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the graph and the weights");
  line.option("--heaviest", p.heaviest, 1, 10'000, "weights are random, from 1 to this");
  line.option("--delta", delta, 1, 1'000'000'000, "width of a bucket, in units of the weights");
  line.choice("--variant", variant, {"delta", "serial"},
              "delta stepping, or Dijkstra's algorithm at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  // Place 0 checks the result with the whole graph, which has two arcs for each edge.
  const double arcs = 2.0 * p.edge_factor * static_cast<double>(std::int64_t{1} << p.scale);
  if (const auto problem = apps::beyond_memory(arcs * sizeof(sssp::arc)); !problem.empty()) {
    return line.refuse("--scale and --edge-factor: " + problem + "; choose a smaller graph");
  }
  return apgas::run(argc, argv, [&] { return search_and_report(p, delta, variant); });
}

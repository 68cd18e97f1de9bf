// SPDX-License-Identifier: Apache-2.0

// Breadth-first search of a Kronecker graph, after the Graph500 benchmark. The vertices are
// distributed cyclically over the places. A level is one finish: each place goes through its
// vertices of the frontier and visits their neighbours; each edge to a vertex of another place is a
// task there. Many such tasks share a message.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "bfs/dealing.hpp"
#include "bfs/graph_options.hpp"
#include "bfs/kronecker.hpp"
#include "bfs/part.hpp"
#include "bfs/tree.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using bfs::edge;
using bfs::vertex;

using parts = apgas::place_local<bfs::part>;

enum class way : std::uint8_t { tasks, batches };

struct visit {
  vertex to;
  vertex parent;
};
using batch = std::vector<visit>;
constexpr std::size_t visits_of_a_batch = 1024;

// The visits at each other place that this worker has not sent yet.
using batches = apgas::worker_local<std::vector<batch>>;

void send(const parts& all, std::size_t to, const batch& visits, int level) {
  apgas::async_at(
      apgas::place(static_cast<int>(to)),
      [all, level](const batch& these) {
        bfs::part& there = *all;
        for (const visit& v : these) there.visit(v.to, v.parent, level);
      },
      visits);
}

// Visits the neighbours of this place's vertices of a level. Offers the number of these vertices.
void expand(const parts& all, int level, way how) {
  bfs::part& mine = *all;
  const bfs::dealing& dealt = mine.dealt();
  const std::vector<vertex> frontier = mine.take_frontier(level);
  apgas::offer(static_cast<std::int64_t>(frontier.size()));
  batches waiting(std::vector<batch>(static_cast<std::size_t>(dealt.places)));
  apgas::forall(frontier, [&](vertex v) {
    for (const vertex w : mine.neighbours(v)) {
      const std::int64_t owner = dealt.owner(w);
      if (owner == dealt.here) {
        mine.visit(w, v, level + 1);
      } else if (how == way::tasks) {
        apgas::async_at(apgas::place(static_cast<int>(owner)),
                        [all, w, v, level] { all->visit(w, v, level + 1); });
      } else {
        batch& there = (*waiting)[static_cast<std::size_t>(owner)];
        there.push_back({w, v});
        if (there.size() < visits_of_a_batch) continue;
        send(all, static_cast<std::size_t>(owner), std::exchange(there, {}), level + 1);
      }
    }
  });
  for (const auto& each : waiting) {
    for (std::size_t q = 0; q < each.size(); ++q) {
      if (!each[q].empty()) send(all, q, each[q], level + 1);
    }
  }
}

void search(const parts& all, vertex root, way how) {
  const auto owner = apgas::place(static_cast<int>(root % apgas::num_places()));
  apgas::at(owner, [all, root] { all->visit(root, root, 0); });
  std::int64_t vertices = 1;
  for (int level = 0; vertices != 0; ++level) {
    vertices = apgas::finish_reduce(std::int64_t{0}, std::plus<>(), [&] {
      apgas::async_at(apgas::places(), [all](int l, way h) { expand(all, l, h); }, level, how);
    });
  }
}

bfs::tree gather(const parts& all, vertex root, std::int64_t vertices) {
  const auto n = static_cast<std::size_t>(vertices);
  bfs::tree t{root, std::vector<vertex>(n), std::vector<std::int32_t>(n)};
  for (const apgas::place p : apgas::places()) {
    const auto parents = apgas::at(p, [all] { return all->parents(); });
    const auto levels = apgas::at(p, [all] { return all->levels(); });
    const bfs::dealing there{apgas::num_places(), p.id()};
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const auto v = static_cast<std::size_t>(there.vertex_at(i));
      t.parents[v] = parents[i];
      t.levels[v] = levels[i];
    }
  }
  return t;
}

struct options {
  bfs::graph_options graph;
  int roots = 4;
  std::string variant = "tasks";
};

int search_and_report(const options& o) {
  const auto seed = static_cast<std::uint64_t>(o.graph.seed);
  const bfs::kronecker g = o.graph.graph();
  const auto all =
      parts::make(apgas::places(), [](const bfs::kronecker& of) { return bfs::part(of); }, g);
  const std::vector<edge> graph = bfs::all_edges(g);
  bfs::rating rate;
  std::optional<std::string> problem;
  for (const vertex root : bfs::pick_roots(g, graph, o.roots, seed)) {
    apgas::finish([all] { apgas::async_at(apgas::places(), [all] { all->forget(); }); });
    const apps::stopwatch clock;
    search(all, root, o.variant == "tasks" ? way::tasks : way::batches);
    const double seconds = clock.seconds();
    const bfs::tree t = gather(all, root, g.vertices());
    rate.add(bfs::edges_within(t, graph), seconds);
    problem = bfs::broken_rule(t, graph);
    if (problem) {
      std::cerr << "bfs: from root " << root << ": " << *problem << '\n';
      break;
    }
  }
  all.destroy();
  return apps::report("bfs", rate.seconds(), !problem && rate.searches() > 0,
                      {{"variant", o.variant},
                       {"scale", o.graph.scale},
                       {"edge_factor", o.graph.edge_factor},
                       {"roots", rate.searches()},
                       {"teps", rate.teps()}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("bfs", "Searches a Kronecker graph breadth-first, as Graph500 does.");
  o.graph.declare(line, 26, "the graph and the roots");
  line.option("--roots", o.roots, 1, 64, "number of searches, each from another vertex");
  line.choice("--variant", o.variant, {"tasks", "batches"}, "a task for each edge, or for many");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    const apps::placement p = apps::placement_of_job();
    const double bytes = bfs::bytes_of_an_edge(p, apps::copies_in_exchange(p.places), 1);
    if (const auto code = o.graph.refused(line, bytes)) return *code;
    return search_and_report(o);
  });
}

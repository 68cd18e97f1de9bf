// SPDX-License-Identifier: Apache-2.0

// apps/bfs in plain MPI: level by level, with one MPI_Alltoallv for each level, which carries the
// visits to vertices of other ranks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/graph_options.hpp"
#include "bfs/kronecker.hpp"
#include "bfs/tree.hpp"
#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "support/adjacency.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using bfs::edge;
using bfs::nobody;
using bfs::vertex;

// This rank's portion of the graph and of the search.
class part {
 public:
  part(const bfs::kronecker& g, const peers::job& job)
      : dealt_{job.size(), job.rank()},
        parents_(dealt_.size(g.vertices())),
        levels_(parents_.size()),
        outgoing_(static_cast<std::size_t>(job.size())) {
    const std::vector<edge> came = peers::exchange(bfs::share_of_edges(g, dealt_)).values;
    neighbours_ = apps::adjacency(parents_.size(), came, [this](vertex v) { return dealt_.at(v); });
  }

  void forget() {
    std::ranges::fill(parents_, nobody);
    std::ranges::fill(levels_, -1);
  }

  void search(vertex root) {
    if (dealt_.owner(root) == dealt_.here) visit(root, root);
    for (std::int32_t level = 0;; ++level) {
      std::vector<vertex> frontier;
      frontier.swap(found_);
      auto vertices = static_cast<std::int64_t>(frontier.size());
      MPI_Allreduce(MPI_IN_PLACE, &vertices, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      if (vertices == 0) return;
      for (auto& each : outgoing_) each.clear();
      for (const vertex v : frontier) expand(v, level);
      const auto came = peers::exchange(outgoing_);
      for (const auto& [to, parent] : came.values) visit(to, parent);
    }
  }

  [[nodiscard]] bfs::tree gather(vertex root, std::int64_t vertices) const {
    const auto n = static_cast<std::size_t>(vertices);
    bfs::tree t{root, std::vector<vertex>(n, nobody), std::vector<std::int32_t>(n, -1)};
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      const auto v = static_cast<std::size_t>(dealt_.vertex_at(i));
      t.parents[v] = parents_[i];
      t.levels[v] = levels_[i];
    }
    const int count = static_cast<int>(n);  // other ranks have -1 where this rank has a value
    MPI_Allreduce(MPI_IN_PLACE, t.parents.data(), count, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, t.levels.data(), count, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
    return t;
  }

 private:
  void expand(vertex v, std::int32_t level) {
    levels_[dealt_.at(v)] = level;
    for (const vertex w : neighbours_.of(dealt_.at(v))) {
      const std::int64_t owner = dealt_.owner(w);
      if (owner == dealt_.here) {
        visit(w, v);
      } else {
        outgoing_[static_cast<std::size_t>(owner)].push_back({w, v});
      }
    }
  }
  void visit(vertex v, vertex parent) {
    vertex& mine = parents_[dealt_.at(v)];
    if (mine != nobody) return;
    mine = parent;
    found_.push_back(v);
  }

  bfs::dealing dealt_;
  std::vector<vertex> parents_;
  std::vector<std::int32_t> levels_;
  std::vector<std::vector<edge>> outgoing_;  // by rank: the vertices to visit, and their parents
  apps::adjacency neighbours_;
  std::vector<vertex> found_;
};

struct options {
  bfs::graph_options graph;
  int roots = 4;
};

int search_and_report(const peers::job& job, const options& o) {
  const auto seed = static_cast<std::uint64_t>(o.graph.seed);
  const bfs::kronecker g = o.graph.graph();
  part mine(g, job);
  const std::vector<edge> graph = bfs::all_edges(g);
  bfs::rating rate;
  bool right = true;
  for (const vertex root : bfs::pick_roots(g, graph, o.roots, seed)) {
    mine.forget();
    const peers::common_time clock;
    mine.search(root);
    const double seconds = clock.seconds();
    const bfs::tree t = mine.gather(root, g.vertices());
    rate.add(bfs::edges_within(t, graph), seconds);
    const std::optional<std::string> problem =
        job.rank() == 0 ? bfs::broken_rule(t, graph) : std::nullopt;
    if (!problem) continue;
    std::cerr << "bfs_mpi: from root " << root << ": " << *problem << '\n';
    right = false;
  }
  return job.report("bfs_mpi", rate.seconds(), right && rate.searches() > 0,
                    {{"scale", o.graph.scale},
                     {"edge_factor", o.graph.edge_factor},
                     {"roots", rate.searches()},
                     {"teps", rate.teps()}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("bfs_mpi", "Searches a Kronecker graph over all ranks, by MPI.");
  o.graph.declare(line, 22, "the graph and the roots");
  line.option("--roots", o.roots, 1, 64, "number of searches, each from another vertex");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  const apps::placement p = job.placement();  // each rank has all edges, to count those of the tree
  const double bytes = bfs::bytes_of_an_edge(p, peers::copies_in_exchange, p.on_host);
  if (const auto code = o.graph.refused(line, bytes)) return *code;
  return search_and_report(job, o);
}

// SPDX-License-Identifier: Apache-2.0

// apps/triangles in plain MPI: the lists of all vertices are sent to the ranks of their members by
// one MPI_Alltoallv, and each rank intersects them with its own.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/graph_options.hpp"
#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "triangles/oriented_graph.hpp"
#include "triangles/whole_graph.hpp"

namespace {

using triangles::edge;
using triangles::portion;

// Called by all ranks: each generates some of the edges, and learns the degrees of all vertices.
portion make_portion(const bfs::graph_options& p, const peers::job& job) {
  const bfs::dealing dealt{job.size(), job.rank()};
  const std::int64_t vertices = p.graph().vertices();
  std::vector<edge> edges = peers::exchange(bfs::share_of_edges(p.graph(), dealt)).values;
  triangles::normalise(edges);
  std::vector<std::int32_t> degrees = triangles::degrees_of(edges, vertices);
  MPI_Allreduce(MPI_IN_PLACE, degrees.data(), static_cast<int>(vertices), MPI_INT32_T, MPI_SUM,
                MPI_COMM_WORLD);
  const std::vector<triangles::rank> ranks = triangles::ranks_of(degrees);
  return {dealt, vertices, peers::exchange(triangles::oriented(edges, ranks, dealt)).values};
}

std::int64_t count(const portion& mine, const peers::job& job) {
  std::int64_t found = 0;
  for (std::size_t v = 0; v < mine.size(); ++v) found += mine.count_with(mine.of(v));
  if (job.size() > 1) {
    const auto came = peers::exchange(mine.lists_for_places());
    for (const triangles::list each : triangles::separate(came.values)) {
      found += mine.count_with(each);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return found;
}

int count_and_report(const peers::job& job, const bfs::graph_options& p) {
  const portion mine = make_portion(p, job);
  const peers::common_time clock;
  const std::int64_t found = count(mine, job);
  const double seconds = clock.seconds();
  std::vector<edge> edges;
  std::int64_t expected = found;
  if (job.rank() == 0) {
    edges = triangles::whole_graph(p.graph());
    expected = triangles::count_by_marks(edges, p.graph().vertices());
  }
  return job.report("triangles_mpi", seconds, found == expected,
                    {{"scale", p.scale},
                     {"edges", static_cast<std::int64_t>(edges.size() / 2)},
                     {"triangles", found},
                     {"expected", expected}});
}

}  // namespace

int main(int argc, char** argv) {
  bfs::graph_options p;
  apps::command_line line("triangles_mpi", "Counts the triangles of an R-MAT graph, by MPI.");
  p.declare(line, triangles::largest_scale, "the graph");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  const double bytes = triangles::bytes_of_an_edge(job.placement(), peers::copies_in_exchange);
  if (const auto code = p.refused(line, bytes)) return *code;
  return count_and_report(job, p);
}

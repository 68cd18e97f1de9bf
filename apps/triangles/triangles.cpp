// SPDX-License-Identifier: Apache-2.0

// Counts the triangles of a Kronecker graph (R-MAT). Each vertex keeps the neighbours of higher
// rank. A triangle is found at its vertex of middle rank, which compares its own list with that of
// the lowest: the lists of all vertices are sent to the places of their members, in one exchange.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"
#include "triangles/oriented_graph.hpp"

namespace {

using triangles::edge;
using triangles::list;
using triangles::vertex;

// Sent to all places.
struct plan {
  int scale;
  int edge_factor;
  std::int64_t seed;

  [[nodiscard]] bfs::kronecker graph() const {
    return {scale, edge_factor, static_cast<std::uint64_t>(seed)};
  }
};

// A place's portion of the vertices, in cyclic distribution.
class portion {
 public:
  // A collective: each place generates some of the edges, and learns the degrees of all vertices.
  portion(const plan& p, const apgas::team& team)
      : team_(team),
        dealt_{static_cast<std::int64_t>(team.size()), static_cast<std::int64_t>(team.index())} {
    const bfs::kronecker g = p.graph();
    std::vector<edge> edges = apps::exchange(team, bfs::share_of_edges(g, dealt_)).values;
    triangles::normalise(edges);
    std::vector<std::int32_t> degrees(static_cast<std::size_t>(g.vertices()));
    for (const edge& e : edges) ++degrees[triangles::index_of(e.from)];
    team.allreduce(std::span(degrees), std::plus<>());
    triangles::orient(edges, degrees);
    vertices_ = dealt_.size(g.vertices());
    higher_ = apps::adjacency(vertices_, edges, [this](vertex v) { return dealt_.at(v); });
  }

  // A collective: the number of triangles that are found at this place.
  [[nodiscard]] std::int64_t count() const {
    const auto came = apps::exchange(team_, lists_for_places());
    // A list is preceded by its length.
    std::vector<list> lists;
    for (std::size_t at = 0; at < came.values.size();) {
      const auto length = static_cast<std::size_t>(came.values[at]);
      lists.push_back(list(came.values).subspan(at + 1, length));
      at += 1 + length;
    }
    const auto remote = apgas::parallel_reduce(
        std::size_t{0}, lists.size(), std::int64_t{0},
        [&](std::size_t i) { return count_with(lists[i]); }, std::plus<>());
    return remote + apgas::parallel_reduce(
                        std::size_t{0}, vertices_, std::int64_t{0},
                        [&](std::size_t v) { return count_with(higher_.of(v)); }, std::plus<>());
  }

 private:
  // The triangles that consist of the owner of the list, a vertex in it that is at this place, and
  // a third vertex in it.
  [[nodiscard]] std::int64_t count_with(list of_lowest) const {
    std::int64_t count = 0;
    for (const vertex v : of_lowest) {
      if (dealt_.owner(v) != dealt_.here) continue;
      count += triangles::common(of_lowest, higher_.of(dealt_.at(v)));
    }
    return count;
  }

  // Each list goes once to each other place that has one of its vertices.
  [[nodiscard]] std::vector<std::vector<vertex>> lists_for_places() const {
    std::vector<std::vector<vertex>> outgoing(team_.size());
    std::vector<std::size_t> sent_to(team_.size(),
                                     vertices_);  // by place: the last list sent there
    for (std::size_t v = 0; v < vertices_; ++v) {
      const list mine = higher_.of(v);
      if (mine.size() < 2) continue;
      for (const vertex u : mine) {
        const auto owner = static_cast<std::size_t>(dealt_.owner(u));
        if (std::cmp_equal(owner, dealt_.here) || sent_to[owner] == v) continue;
        sent_to[owner] = v;
        outgoing[owner].push_back(static_cast<vertex>(mine.size()));
        outgoing[owner].insert(outgoing[owner].end(), mine.begin(), mine.end());
      }
    }
    return outgoing;
  }

  const apgas::team& team_;
  bfs::dealing dealt_;
  std::size_t vertices_ = 0;
  apps::adjacency higher_;  // neighbours of higher rank, in order of their numbers
};

struct outcome {
  std::int64_t triangles;
  double seconds;
};

outcome count_everywhere(const plan& p) {
  std::vector<apgas::future<outcome>> portions;
  for (const apgas::place q : apgas::places()) {
    portions.push_back(apgas::async_future_at(q, [p] {
      const apgas::team team = apgas::team::world();
      const portion mine(p, team);
      team.barrier();
      const apps::stopwatch clock;
      const std::int64_t all = team.allreduce(mine.count(), std::plus<>());
      return outcome{all, clock.seconds()};
    }));
  }
  for (const auto& each : portions) each.wait();
  return portions.front().get();
}

outcome count_serially(std::vector<edge> edges, std::size_t vertices) {
  std::vector<std::int32_t> degrees(vertices);
  for (const edge& e : edges) ++degrees[triangles::index_of(e.from)];
  triangles::orient(edges, degrees);
  const apps::adjacency oriented(vertices, edges, triangles::index_of);
  const apps::stopwatch clock;
  const std::int64_t count = triangles::count_serially(oriented, vertices);
  return {count, clock.seconds()};
}

int count_and_report(const plan& p, const std::string& variant) {
  const bfs::kronecker g = p.graph();
  const auto vertices = static_cast<std::size_t>(g.vertices());
  const std::vector<edge> edges = triangles::whole_graph(g);
  const outcome o = variant == "serial" ? count_serially(edges, vertices) : count_everywhere(p);
  const apps::adjacency graph(vertices, edges, triangles::index_of);
  const std::int64_t expected = triangles::count_by_marks(graph, vertices);
  return apps::report("triangles", o.seconds, o.triangles == expected,
                      {{"variant", variant},
                       {"scale", p.scale},
                       {"edges", static_cast<std::int64_t>(edges.size() / 2)},
                       {"triangles", o.triangles},
                       {"expected", expected}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.scale = 14, .edge_factor = 16, .seed = 1};
  std::string variant = "places";
  apps::command_line line("triangles", "Counts the triangles of an R-MAT graph over all places.");
  line.option("--scale", p.scale, 1, 22, "the graph has 2^scale vertices");
  line.option("--edge-factor", p.edge_factor, 1, 64, "edges per vertex");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the graph");
  line.choice("--variant", variant, {"places", "serial"}, "over all places, or serially at one");
  if (const auto code = line.parse(argc, argv)) return *code;
  // Place 0 checks the result with the whole graph: each edge twice, as a pair and in a list.
  const double edges = 2.0 * p.edge_factor * static_cast<double>(std::int64_t{1} << p.scale);
  if (const auto problem = apps::beyond_memory(edges * (sizeof(edge) + sizeof(vertex)));
      !problem.empty()) {
    return line.refuse("--scale and --edge-factor: " + problem + "; choose a smaller graph");
  }
  return apgas::run(argc, argv, [&] { return count_and_report(p, variant); });
}

// SPDX-License-Identifier: Apache-2.0

// apps/labelprop in plain MPI: blocks of vertices, and in each round one MPI_Allreduce of the
// number of labels that have decreased and one MPI_Alltoallv of the offers to vertices of other
// ranks.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "labelprop/random_graph.hpp"
#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "support/adjacency.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using labelprop::edge;
using labelprop::vertex;

// This rank's block of the vertices. Vertex v has index v - first here.
class block {
 public:
  block(const labelprop::plan& p, const peers::job& job)
      : vertices_(p.vertices), ranks_(job.size()), first_(first_of(job.rank())) {
    label_.resize(static_cast<std::size_t>(first_of(job.rank() + 1) - first_));
    queued_.resize(label_.size());
    offers_.resize(static_cast<std::size_t>(ranks_));
    std::iota(label_.begin(), label_.end(), first_);
    std::vector<std::vector<edge>> outgoing(offers_.size());
    const std::int64_t last = p.edges * (job.rank() + 1) / ranks_;
    for (std::int64_t k = p.edges * job.rank() / ranks_; k < last; ++k) {
      const auto [u, v] = p.edge_at(k);
      outgoing[rank_of(u)].push_back({u, v});
      outgoing[rank_of(v)].push_back({v, u});
    }
    const auto came = peers::exchange(outgoing).values;
    neighbours_ = apps::adjacency(label_.size(), came, [&](vertex v) { return at(v); });
  }

  // Returns the number of rounds.
  std::int64_t propagate() {
    for (std::size_t i = 0; i < label_.size(); ++i) enqueue(i);
    for (std::int64_t rounds = 0;; ++rounds) {
      const std::vector<std::size_t> fell = std::exchange(queue_, {});
      for (const std::size_t i : fell) queued_[i] = 0;
      auto count = static_cast<std::int64_t>(fell.size());
      MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      if (count == 0) return rounds;
      for (auto& each : offers_) each.clear();
      for (const std::size_t i : fell) offer_to_neighbours(i);
      for (const offer& o : peers::exchange(offers_).values) take(o);
    }
  }

  // All labels, at rank 0.
  [[nodiscard]] std::vector<vertex> gather() const {
    std::vector<std::vector<vertex>> outgoing(offers_.size());
    outgoing.front() = label_;
    return peers::exchange(outgoing).values;
  }

 private:
  struct offer {
    vertex to;
    vertex label;
  };

  [[nodiscard]] std::size_t at(vertex v) const { return static_cast<std::size_t>(v - first_); }
  [[nodiscard]] vertex first_of(std::int64_t rank) const { return vertices_ * rank / ranks_; }
  [[nodiscard]] std::size_t rank_of(vertex v) const {
    return static_cast<std::size_t>(((v + 1) * ranks_ - 1) / vertices_);
  }

  void offer_to_neighbours(std::size_t i) {
    for (const vertex v : neighbours_.of(i)) {
      if (v < label_[i]) continue;  // the vertex started with a smaller label
      if (first_ <= v && at(v) < label_.size()) {
        take({v, label_[i]});
      } else {
        offers_[rank_of(v)].push_back({v, label_[i]});
      }
    }
  }
  void take(const offer& o) {
    vertex& mine = label_[at(o.to)];
    if (mine <= o.label) return;
    mine = o.label;
    enqueue(at(o.to));
  }
  void enqueue(std::size_t i) {
    if (std::exchange(queued_[i], 1) == 0) queue_.push_back(i);
  }

  std::int64_t vertices_;
  std::int64_t ranks_;
  vertex first_;
  std::vector<vertex> label_;
  std::vector<std::uint8_t> queued_;  // by vertex: whether it is in queue_
  std::vector<std::size_t> queue_;
  std::vector<std::vector<offer>> offers_;  // by rank
  apps::adjacency neighbours_;
};

int propagate_and_report(const peers::job& job, const labelprop::plan& p) {
  block mine(p, job);
  const peers::common_time clock;
  const std::int64_t rounds = mine.propagate();
  const double seconds = clock.seconds();
  const std::vector<vertex> found = mine.gather();
  labelprop::summary s;
  if (job.rank() == 0) s = labelprop::summarise(p, found);
  return job.report("labelprop_mpi", seconds, s.wrong == 0,
                    {{"vertices", p.vertices},
                     {"edges", p.edges},
                     {"components", s.components},
                     {"rounds", rounds},
                     {"wrong", s.wrong}});
}

}  // namespace

int main(int argc, char** argv) {
  labelprop::plan p{.vertices = 200'000, .edges = 0, .seed = 1};
  double degree = 2;
  apps::command_line line("labelprop_mpi", "Finds connected components over all ranks, by MPI.");
  line.option("-n,--vertices", p.vertices, 1, 1'000'000'000, "number of vertices");
  line.option("--degree", degree, 0, 1000, "average number of edges at a vertex");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the graph");
  if (const auto code = line.parse(argc, argv)) return *code;
  p.edges = static_cast<std::int64_t>(degree / 2 * static_cast<double>(p.vertices));
  const peers::job job(argc, argv);
  if (const auto problem = apps::beyond_memory(p.bytes(job.placement())); !problem.empty()) {
    return line.refuse("--vertices, --degree: " + problem + "; choose fewer");
  }
  return propagate_and_report(job, p);
}

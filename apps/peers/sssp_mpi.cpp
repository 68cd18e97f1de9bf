// SPDX-License-Identifier: Apache-2.0

// apps/sssp in plain MPI: in each round a rank empties the lowest bucket of all ranks, and one
// MPI_Alltoallv carries the lengths that it offers to vertices of other ranks. The MPI_Alltoall of
// their numbers also finds the bucket of the next round.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bfs/dealing.hpp"
#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "sssp/options.hpp"
#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"
#include "support/command_line.hpp"

namespace {

using sssp::arc;
using sssp::arcs;
using sssp::length;
using sssp::offer;
using sssp::unreached;

constexpr std::int64_t no_bucket = INT64_MAX;

// The offers of a rank to all others in a round, in memory that is used again.
class mail {
 public:
  explicit mail(std::size_t ranks)
      : outgoing_(ranks),
        told_(ranks),
        heard_(ranks),
        out_count_(ranks),
        out_first_(ranks),
        in_count_(ranks),
        in_first_(ranks) {}

  // Allocates memory for so many offers in each exchange. More will be allocated when needed.
  void reserve(std::size_t offers) {
    for (auto* each : {&leaving_, &came_}) each->resize(offers);  // touches the memory
  }

  void add(std::size_t rank, const offer& o) { outgoing_[rank].push_back(o); }

  // Called by all ranks, each with the lowest bucket for which it has vertices or offers. Returns
  // the lowest of all.
  std::int64_t exchange(std::int64_t lowest) {
    leaving_.clear();
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      out_first_[i] = static_cast<int>(leaving_.size());
      out_count_[i] = static_cast<int>(outgoing_[i].size());
      told_[i] = {out_count_[i], lowest};
      leaving_.insert(leaving_.end(), outgoing_[i].begin(), outgoing_[i].end());
      outgoing_[i].clear();
    }
    MPI_Alltoall(told_.data(), 2, MPI_INT64_T, heard_.data(), 2, MPI_INT64_T, MPI_COMM_WORLD);
    int total = 0;
    for (std::size_t i = 0; i < heard_.size(); ++i) {
      in_first_[i] = total;
      in_count_[i] = static_cast<int>(heard_[i].count);
      total += in_count_[i];
      lowest = std::min(lowest, heard_[i].lowest);
    }
    came_.resize(static_cast<std::size_t>(total));
    MPI_Alltoallv(leaving_.data(), out_count_.data(), out_first_.data(), MPI_UINT64_T, came_.data(),
                  in_count_.data(), in_first_.data(), MPI_UINT64_T, MPI_COMM_WORLD);
    return lowest;
  }

  // The offers that this rank received in the last exchange.
  [[nodiscard]] const std::vector<offer>& came() const { return came_; }

 private:
  struct heading {
    std::int64_t count;
    std::int64_t lowest;
  };

  std::vector<std::vector<offer>> outgoing_;  // this and the others by rank
  std::vector<heading> told_;
  std::vector<heading> heard_;
  std::vector<int> out_count_;
  std::vector<int> out_first_;
  std::vector<int> in_count_;
  std::vector<int> in_first_;
  std::vector<offer> leaving_;
  std::vector<offer> came_;
};

// This rank's portion of the graph and of the search.
class portion {
 public:
  portion(const sssp::options& o, const peers::job& job)
      : vertices_(static_cast<std::size_t>(o.graph.graph().vertices())),
        delta_(o.delta),
        dealt_{job.size(), job.rank()},
        lengths_(dealt_.size(o.graph.graph().vertices()), unreached),
        followed_(lengths_.size(), unreached),
        arcs_(lengths_.size(), dealt_,
              peers::exchange(sssp::share_of_edges(o.graph, dealt_)).values),
        offered_(static_cast<std::size_t>(job.size())),
        mail_(offered_.size()) {
    mail_.reserve(lengths_.size());
    for (std::int64_t q = 0; q < dealt_.places; ++q) {
      const bfs::dealing theirs{dealt_.places, q};
      offered_[static_cast<std::size_t>(q)].assign(theirs.size(o.graph.graph().vertices()),
                                                   unreached);
    }
  }

  // Returns the number of rounds.
  std::int64_t search(std::size_t root) {
    const auto v = static_cast<sssp::vertex>(root);
    if (dealt_.owner(v) == dealt_.here) improve(dealt_.at(v), 0);
    std::int64_t rounds = 0;
    for (std::int64_t bucket = 0; bucket != no_bucket; ++rounds) {
      empty(static_cast<std::size_t>(bucket));
      bucket = mail_.exchange(std::min(lowest_bucket(), std::exchange(lowest_offer_, no_bucket)));
      for (const offer& o : mail_.came()) improve(o.index, static_cast<length>(o.via));
    }
    return rounds;
  }

  // All lengths, at all ranks.
  [[nodiscard]] std::vector<length> gather() const {
    std::vector<length> all(vertices_, unreached);
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      all[static_cast<std::size_t>(dealt_.vertex_at(i))] = lengths_[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(vertices_), MPI_INT64_T, MPI_MIN,
                  MPI_COMM_WORLD);
    return all;
  }

 private:
  void empty(std::size_t bucket) {
    taken_.clear();
    if (bucket < buckets_.size()) taken_.swap(buckets_[bucket]);
    for (const std::uint32_t v : taken_) {
      const length here = lengths_[v];
      // It was followed with this length, perhaps as one of a lower bucket.
      if (std::exchange(followed_[v], here) == here) continue;
      for (std::span<const arc> rest = arcs_.of(v); !rest.empty();) {
        const std::span<const arc> group = sssp::first_group(rest);
        follow(group, here);
        rest = rest.subspan(group.size());
      }
    }
  }
  void follow(std::span<const arc> group, length here) {
    const std::size_t rank = group.front().place;
    if (std::cmp_equal(rank, dealt_.here)) {
      for (const arc& a : group) improve(a.index, here + a.weight);
      return;
    }
    const std::span<length> offered = offered_[rank];
    for (const arc& a : group) {
      const length via = here + a.weight;
      if (via >= offered[a.index]) continue;
      offered[a.index] = via;
      mail_.add(rank, {a.index, static_cast<std::uint64_t>(via) & 0xff'ffff'ffff});
      lowest_offer_ = std::min(lowest_offer_, via / delta_);
    }
  }
  void improve(std::size_t index, length via) {
    if (via >= lengths_[index]) return;
    lengths_[index] = via;
    const auto bucket = static_cast<std::size_t>(via / delta_);
    if (buckets_.size() <= bucket) buckets_.resize(bucket + 1);
    buckets_[bucket].push_back(static_cast<std::uint32_t>(index));
  }
  [[nodiscard]] std::int64_t lowest_bucket() const {
    const auto found = std::ranges::find_if(buckets_, [](const auto& b) { return !b.empty(); });
    return found == buckets_.end() ? no_bucket : found - buckets_.begin();
  }

  std::size_t vertices_;  // of the whole graph
  length delta_;
  bfs::dealing dealt_;
  std::vector<length> lengths_;
  std::vector<length> followed_;  // by vertex: the length with which its arcs were followed
  arcs arcs_;
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::vector<std::uint32_t> taken_;
  // By rank and index: the least length that this rank has offered. A greater one is not sent.
  std::vector<std::vector<length>> offered_;
  std::int64_t lowest_offer_ = no_bucket;
  mail mail_;
};

int search_and_report(const peers::job& job, const sssp::options& o) {
  arcs graph;  // the whole one, at rank 0
  std::uint64_t root = 0;
  if (job.rank() == 0) {
    graph = sssp::whole_graph(o.graph);
    root = sssp::root_of(graph);
  }
  MPI_Bcast(&root, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  portion mine(o, job);
  const peers::common_time clock;
  const std::int64_t rounds = mine.search(root);
  const double seconds = clock.seconds();
  const std::vector<length> lengths = mine.gather();
  sssp::summary s;
  if (job.rank() == 0) s = sssp::summarise(graph, lengths, root);
  return job.report("sssp_mpi", seconds, s.wrong == 0, o.figures(s, rounds));
}

}  // namespace

int main(int argc, char** argv) {
  sssp::options o;
  apps::command_line line("sssp_mpi", "Finds shortest paths by delta stepping, by MPI.");
  o.declare(line);
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  const double bytes = o.bytes_of_an_edge(job.placement(), peers::copies_in_exchange);
  if (const auto code = o.graph.refused(line, bytes)) return *code;
  return search_and_report(job, o);
}

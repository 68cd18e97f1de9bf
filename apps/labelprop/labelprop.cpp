// SPDX-License-Identifier: Apache-2.0

// Connected components by label propagation. Each vertex starts with its own number as its label,
// and repeatedly takes the smallest label among its neighbours, until nothing changes. The vertices
// are distributed in blocks over the places. In each round a place offers the labels that have
// decreased to the neighbours of those vertices: at this place at once, to other places in one
// exchange. Within a place the rounds are also written as loops in several forms
// (within_place.hpp).

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "labelprop/random_graph.hpp"
#include "labelprop/within_place.hpp"
#include "support/adjacency.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/loop_form.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using apps::edge;
using apps::vertex;
using labelprop::plan;
using labels = apgas::dist_array<vertex>;

// A place's block of the vertices. Vertices and their neighbours are identified by their numbers in
// the whole graph; vertex v has index v - first here.
class block {
 public:
  // A collective: each place generates some of the edges and sends them to the places of their
  // ends.
  block(const plan& p, const labels& all, const apgas::team& team)
      : team_(team), state_(all.local()), exchanger_(team), outgoing_(team.size()) {
    if (!state_.empty()) first_ = static_cast<vertex>(all.index_of(0));
    ends_.resize(team.size());
    ends_[team.index()] = first_ + std::ssize(state_);
    team.allreduce(std::span(ends_), std::plus<>());
    std::inclusive_scan(ends_.begin(), ends_.end(), ends_.begin(),  // some blocks may be empty
                        [](vertex a, vertex b) { return std::max(a, b); });
    std::vector<std::vector<edge>> outgoing(team.size());
    const auto index = static_cast<std::int64_t>(team.index());
    const auto places = static_cast<std::int64_t>(team.size());
    for (auto k = p.edges * index / places; k < p.edges * (index + 1) / places; ++k) {
      const auto [u, v] = p.edge_at(k);
      outgoing[place_of(u)].push_back({u, v});
      outgoing[place_of(v)].push_back({v, u});
    }
    const auto came = apps::exchange(team, outgoing);
    neighbours_ = apps::adjacency(state_.size(), came.values, [&](vertex v) { return at(v); });
  }

  // A collective. Returns the number of rounds.
  std::int64_t propagate() {
    for (std::size_t i = 0; i < state_.size(); ++i) {
      state_[i] = queued(state_[i]);
      queue_->push_back(i);
    }
    for (std::int64_t rounds = 0;; ++rounds) {
      take_queue();
      if (team_.allreduce(static_cast<std::int64_t>(fell_.size()), std::plus<>()) == 0) {
        for (vertex& each : state_) each = label_in(each);
        exchanger_.release();
        return rounds;
      }
      apgas::forall(fell_, [this](std::size_t i) { offer_to_neighbours(i); });
      take_offers();
      exchanger_.exchange(outgoing_, {}, came_);
      apgas::forall(came_.values, [this](const offer& o) { take(o); });
    }
  }

 private:
  struct offer {
    vertex to;
    vertex label;
  };

  // The state of a vertex during the search: twice its label, and 1 if it is in a queue of queue_.
  // So one atomic operation changes both.
  static vertex queued(vertex label) noexcept { return 2 * label + 1; }
  static vertex label_in(vertex state) noexcept { return state >> 1; }
  static bool is_queued(vertex state) noexcept { return (state & 1) != 0; }

  [[nodiscard]] std::size_t at(vertex v) const { return static_cast<std::size_t>(v - first_); }
  [[nodiscard]] std::size_t place_of(vertex v) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, v) - ends_.begin());
  }

  void offer_to_neighbours(std::size_t i) {
    const vertex label = label_in(std::atomic_ref(state_[i]).load(std::memory_order_relaxed));
    for (const vertex v : neighbours_.of(i)) {
      if (v < label) continue;  // the vertex started with a smaller label
      if (first_ <= v && at(v) < state_.size()) {
        take({v, label});
      } else {
        auto& mine = *offers_;
        if (mine.empty()) mine.resize(team_.size());
        mine[place_of(v)].push_back({v, label});
      }
    }
  }

  // Context: a worker. Several tasks of this place may call it at the same time.
  void take(const offer& o) {
    const std::atomic_ref mine(state_[at(o.to)]);
    vertex before = mine.load(std::memory_order_relaxed);
    while (o.label < label_in(before)) {
      if (!mine.compare_exchange_weak(before, queued(o.label), std::memory_order_relaxed)) continue;
      if (!is_queued(before)) queue_->push_back(at(o.to));
      return;
    }
  }

  // These take what the workers have found, and give them the memory of the round before.
  void take_queue() {
    fell_.clear();
    for (auto& each : queue_) move_to(fell_, each);
    for (const std::size_t i : fell_) --state_[i];  // not in a queue any more
  }
  void take_offers() {
    for (std::size_t q = 0; q < outgoing_.size(); ++q) {
      outgoing_[q].clear();
      for (auto& each : offers_) {
        if (!each.empty()) move_to(outgoing_[q], each[q]);
      }
    }
  }
  // Appends the values of one worker to those of others.
  template <class T>
  static void move_to(std::vector<T>& all, std::vector<T>& each) {
    if (all.empty()) return all.swap(each);
    all.insert(all.end(), each.begin(), each.end());
    each.clear();
  }

  const apgas::team& team_;
  std::span<vertex> state_;
  vertex first_ = 0;
  std::vector<vertex> ends_;  // of the blocks of all places: place_of() of the array costs more
  apps::adjacency neighbours_;

  apps::exchanger<offer> exchanger_;
  // Used again in each round: the vertices whose labels fell, and the offers to and from places.
  std::vector<std::size_t> fell_;
  std::vector<std::vector<offer>> outgoing_;
  apps::arrivals<offer> came_;
  apgas::worker_local<std::vector<std::size_t>> queue_;
  apgas::worker_local<std::vector<std::vector<offer>>> offers_;  // by place
};

labelprop::labelling propagate_over_places(const plan& p) {
  const labels all(static_cast<std::size_t>(p.vertices), apgas::distribution::block(),
                   [](std::size_t v) { return static_cast<vertex>(v); });
  struct figures {
    std::int64_t rounds;
    double seconds;
  };
  std::vector<apgas::future<figures>> parts;
  for (const apgas::place q : apgas::places()) {
    parts.push_back(apgas::async_future_at(q, [p, all] {
      const apgas::team team = apgas::team::world();
      block mine(p, all, team);
      team.barrier();
      const apps::stopwatch clock;
      const std::int64_t rounds = mine.propagate();
      return figures{rounds, clock.seconds()};
    }));
  }
  const figures f = parts.front().get();
  for (const auto& each : parts) each.wait();

  labelprop::labelling found{all.gather(), f.rounds, f.seconds};
  all.destroy();
  return found;
}

int propagate_and_report(const plan& p, const std::string& variant, apps::loop_form& form) {
  const labelprop::labelling found =
      variant == "places" ? propagate_over_places(p) : labelprop::propagate_within_place(p, form);
  const labelprop::summary s = labelprop::summarise(p, found.labels);
  return apps::report("labelprop", found.seconds, s.wrong == 0,
                      {{"variant", variant},
                       {"vertices", p.vertices},
                       {"edges", p.edges},
                       {"components", s.components},
                       {"rounds", found.rounds},
                       {"wrong", s.wrong}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.vertices = 200'000, .edges = 0, .seed = 1};
  double degree = 2;
  apps::command_line line("labelprop", "Finds the connected components of a random graph.");
  line.option("-n,--vertices", p.vertices, 1, 1'000'000'000,
              "number of vertices, in blocks over the places");
  line.option("--degree", degree, 0, 1000, "average number of edges at a vertex");
  std::string variant = "places";
  apps::loop_form::declare(line, variant, {variant},
                           "over all places, or the form of the loop within a place");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the graph");
  if (const auto code = line.parse(argc, argv)) return *code;
  p.edges = static_cast<std::int64_t>(degree / 2 * static_cast<double>(p.vertices));
  apps::loop_form form(variant);
  return apgas::run(argc, argv, [&] {
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    if (const auto problem = apps::beyond_memory(p.bytes(all)); !problem.empty()) {
      return line.refuse("--vertices, --degree: " + problem + "; choose fewer");
    }
    return propagate_and_report(p, variant, form);
  });
}

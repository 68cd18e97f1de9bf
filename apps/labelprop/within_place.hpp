// SPDX-License-Identifier: Apache-2.0
#pragma once

// Label propagation within a place: each round is a parallel loop, in any form, over the vertices
// whose label has decreased in the round before.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "labelprop/random_graph.hpp"
#include "support/adjacency.hpp"
#include "support/loop_form.hpp"
#include "support/stopwatch.hpp"

namespace labelprop {

struct labelling {
  std::vector<vertex> labels;
  std::int64_t rounds = 0;
  double seconds = 0;
};

inline apps::adjacency graph_of(const plan& p) {
  std::vector<edge> edges;
  edges.reserve(2 * static_cast<std::size_t>(p.edges));
  for (std::int64_t k = 0; k < p.edges; ++k) {
    const auto [u, v] = p.edge_at(k);
    edges.push_back({u, v});
    edges.push_back({v, u});
  }
  return {static_cast<std::size_t>(p.vertices), edges,
          [](vertex v) { return static_cast<std::size_t>(v); }};
}

// The access to labels that several tasks lower at the same time.
struct shared_access {
  static vertex read(vertex& label) {
    return std::atomic_ref(label).load(std::memory_order_relaxed);
  }
  // Whether the label was larger.
  static bool lower(vertex& label, vertex to) {
    const std::atomic_ref mine(label);
    vertex before = mine.load(std::memory_order_relaxed);
    while (to < before) {
      if (mine.compare_exchange_weak(before, to, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  // Whether this call was the first to set the mark.
  static bool mark(std::uint8_t& queued) {
    return std::atomic_ref(queued).exchange(1, std::memory_order_relaxed) == 0;
  }
};

// The same in the serial program.
struct sole_access {
  static vertex read(vertex& label) { return label; }
  static bool lower(vertex& label, vertex to) {
    if (to >= label) return false;
    label = to;
    return true;
  }
  static bool mark(std::uint8_t& queued) { return std::exchange(queued, 1) == 0; }
};

template <class Access>
void propagate(const apps::loop_form& form, const apps::adjacency& graph, labelling& found) {
  std::vector<std::size_t> lowered(found.labels.size());
  std::iota(lowered.begin(), lowered.end(), std::size_t{0});
  std::vector<std::uint8_t> queued(found.labels.size());
  for (; !lowered.empty(); ++found.rounds) {
    const auto chunks = static_cast<std::size_t>(apps::loop_form::chunks(lowered.size()));
    std::vector<std::vector<std::size_t>> next(chunks);  // by chunk
    form.each_chunk(lowered.size(), [&](std::size_t chunk, apps::range r) {
      for (auto i = r.first; i < r.last; ++i) {
        const std::size_t from = lowered[static_cast<std::size_t>(i)];
        const vertex label = Access::read(found.labels[from]);
        for (const vertex v : graph.of(from)) {
          const auto to = static_cast<std::size_t>(v);
          if (!Access::lower(found.labels[to], label)) continue;
          if (Access::mark(queued[to])) next[chunk].push_back(to);
        }
      }
    });
    lowered.clear();
    for (const auto& each : next) lowered.insert(lowered.end(), each.begin(), each.end());
    for (const std::size_t v : lowered) queued[v] = 0;
  }
}

// Context: task; may suspend.
inline labelling propagate_within_place(const plan& p, apps::loop_form& form) {
  const apps::adjacency graph = graph_of(p);
  labelling found;
  found.labels.resize(static_cast<std::size_t>(p.vertices));
  std::iota(found.labels.begin(), found.labels.end(), vertex{0});
  form.run([&] {
    const apps::stopwatch clock;
    if (form.parallel()) {
      propagate<shared_access>(form, graph, found);
    } else {
      propagate<sole_access>(form, graph, found);
    }
    found.seconds = clock.seconds();
  });
  return found;
}

}  // namespace labelprop

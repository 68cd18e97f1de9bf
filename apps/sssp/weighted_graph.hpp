// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Kronecker graph whose edges have random weights, and a place's portion of its arcs in
// compressed sparse rows. Does not use the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/graph_options.hpp"
#include "bfs/kronecker.hpp"
#include "support/random_word.hpp"

namespace sssp {

using apps::vertex;
using length = std::int64_t;

constexpr length unreached = INT64_MAX;
constexpr int largest_scale = 22;
constexpr length largest_weight = 10'000;

// An edge in one direction, as it is generated.
struct weighted_edge {
  vertex from;
  vertex to;
  length weight;
};

// An arc of a vertex: the vertex at its end, as its place and its index there, and the weight. A
// search reads all arcs in memory order, so they are small, and need no division to find a place.
struct arc {
  std::uint64_t index : 24;
  std::uint64_t place : 24;
  length weight : 16;
};
static_assert(sizeof(arc) == 8 && largest_scale <= 24 && largest_weight < (1 << 15));

// A length that a place offers to the vertex with this index at another place. No path is longer
// than all vertices times the largest weight.
struct offer {
  std::uint64_t index : 24;
  std::uint64_t via : 40;
};
static_assert(sizeof(offer) == 8 && (largest_weight << largest_scale) < (length{1} << 40));

// Defines the graph and its weights. Sent to all places.
struct plan : bfs::graph_options {
  length heaviest = 255;  // weights are 1 .. heaviest

  [[nodiscard]] length weight(std::int64_t k) const {
    const auto range = static_cast<std::uint64_t>(heaviest);
    const std::uint64_t word =
        apps::random_word(~static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(k));
    return 1 + static_cast<length>(word % range);
  }
};

// The edges that this place generates, in both directions and without loops. Item p holds the edges
// from vertices of place p.
inline std::vector<std::vector<weighted_edge>> share_of_edges(const plan& p,
                                                              const bfs::dealing& dealt) {
  const bfs::kronecker g = p.graph();
  std::vector<std::vector<weighted_edge>> all(static_cast<std::size_t>(dealt.places));
  const std::int64_t first = g.edges() * dealt.here / dealt.places;
  const std::int64_t last = g.edges() * (dealt.here + 1) / dealt.places;
  // About what each place gets. Growing a vector would need half as much memory again.
  for (auto& each : all) each.reserve(static_cast<std::size_t>(2 * (last - first) / dealt.places));
  for (std::int64_t k = first; k < last; ++k) {
    const auto [u, v] = g(k);
    if (u == v) continue;
    all[static_cast<std::size_t>(dealt.owner(u))].push_back({u, v, p.weight(k)});
    all[static_cast<std::size_t>(dealt.owner(v))].push_back({v, u, p.weight(k)});
  }
  return all;
}

// The arcs that start from each vertex of a place, those to vertices of the same place together.
class arcs {
 public:
  arcs() = default;
  arcs(std::size_t vertices, const bfs::dealing& dealt, std::span<const weighted_edge> edges)
      : first_(vertices + 1), arcs_(edges.size()) {
    for (const weighted_edge& e : edges) ++first_[dealt.at(e.from) + 1];
    for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const weighted_edge& e : edges) {
      arcs_[next[dealt.at(e.from)]++] = {dealt.at(e.to) & 0xffffff,
                                         static_cast<std::uint64_t>(dealt.owner(e.to)) & 0xffffff,
                                         e.weight & 0x7fff};
    }
    for (std::size_t v = 0; v < vertices; ++v) {
      std::ranges::sort(std::span(arcs_).subspan(first_[v], first_[v + 1] - first_[v]), {},
                        [](const arc& a) { return std::pair(a.place, a.index); });
    }
  }

  // The number of vertices.
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  [[nodiscard]] std::span<const arc> of(std::size_t v) const {
    return std::span(arcs_).subspan(first_[v], first_[v + 1] - first_[v]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<arc> arcs_;
};

// The arcs at the beginning that lead to the same place. `some` are arcs of a vertex, at least one.
inline std::span<const arc> first_group(std::span<const arc> some) {
  const std::uint64_t place = some.front().place;
  if (some.back().place == place) return some;
  const auto end =
      std::ranges::partition_point(some, [place](const arc& a) { return a.place == place; });
  return {some.begin(), end};
}

// All arcs, as if there were one place: the index of a vertex is its number.
inline arcs whole_graph(const plan& p) {
  constexpr bfs::dealing at_one{1, 0};
  return {static_cast<std::size_t>(p.graph().vertices()), at_one,
          share_of_edges(p, at_one).front()};
}

// The vertex from which to search: the first one that has an arc, or vertex 0 if none has.
inline std::size_t root_of(const arcs& graph) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!graph.of(v).empty()) return v;
  }
  return 0;
}

}  // namespace sssp

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Kronecker graph whose edges have random weights, and a graph of arcs in compressed sparse rows.
// Does not use the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bfs/dealing.hpp"
#include "bfs/kronecker.hpp"
#include "support/random_word.hpp"

namespace sssp {

using apps::vertex;
using length = std::int64_t;

struct arc {
  vertex from;
  vertex to;
  length weight;
};

// Defines the graph. Sent to all places.
struct plan {
  int scale;
  int edge_factor;
  std::int64_t seed;
  length heaviest;  // weights are 1 .. heaviest

  [[nodiscard]] bfs::kronecker graph() const {
    return {scale, edge_factor, static_cast<std::uint64_t>(seed)};
  }
  [[nodiscard]] length weight(std::int64_t k) const {
    const auto range = static_cast<std::uint64_t>(heaviest);
    const std::uint64_t word =
        apps::random_word(~static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(k));
    return 1 + static_cast<length>(word % range);
  }
};

// The arcs of the edges that this place generates, in both directions and without loops. Item p
// holds the arcs from vertices of place p.
inline std::vector<std::vector<arc>> share_of_arcs(const plan& p, const bfs::dealing& dealt) {
  const bfs::kronecker g = p.graph();
  std::vector<std::vector<arc>> all(static_cast<std::size_t>(dealt.places));
  const std::int64_t last = g.edges() * (dealt.here + 1) / dealt.places;
  for (std::int64_t k = g.edges() * dealt.here / dealt.places; k < last; ++k) {
    const auto [u, v] = g(k);
    if (u == v) continue;
    all[static_cast<std::size_t>(dealt.owner(u))].push_back({u, v, p.weight(k)});
    all[static_cast<std::size_t>(dealt.owner(v))].push_back({v, u, p.weight(k)});
  }
  return all;
}

// The arcs that start from each vertex, the lightest first.
class arcs {
 public:
  arcs() = default;
  // `index` maps a vertex to its position among the `vertices` of this place.
  template <class Index>
  arcs(std::size_t vertices, std::vector<arc> all, Index index)
      : first_(vertices + 1), arcs_(std::move(all)) {
    std::ranges::sort(arcs_, [&](const arc& a, const arc& b) {
      return a.from != b.from ? index(a.from) < index(b.from) : a.weight < b.weight;
    });
    for (const arc& a : arcs_) ++first_[index(a.from) + 1];
    for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
  }

  [[nodiscard]] std::span<const arc> of(std::size_t v) const {
    return std::span(arcs_).subspan(first_[v], first_[v + 1] - first_[v]);
  }
  [[nodiscard]] std::span<const arc> all() const { return arcs_; }

 private:
  std::vector<std::size_t> first_;
  std::vector<arc> arcs_;
};

}  // namespace sssp

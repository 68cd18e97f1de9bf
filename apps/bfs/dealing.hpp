// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cyclic distribution of the vertices over the places, and of the edges. Does not use the
// library.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bfs/kronecker.hpp"

namespace bfs {

// Vertex v is at place v % places, with index v / places there.
struct dealing {
  std::int64_t places;
  std::int64_t here;

  [[nodiscard]] std::int64_t owner(vertex v) const { return v % places; }
  [[nodiscard]] std::size_t at(vertex v) const { return static_cast<std::size_t>(v / places); }
  [[nodiscard]] vertex vertex_at(std::size_t i) const {
    return static_cast<vertex>(i) * places + here;
  }
  [[nodiscard]] std::size_t size(std::int64_t vertices) const {
    return static_cast<std::size_t>((vertices - here + places - 1) / places);
  }
};

// The edges that this place generates, in both directions and without loops. Item p holds the edges
// from vertices of place p.
inline std::vector<std::vector<edge>> share_of_edges(const kronecker& g, const dealing& dealt) {
  std::vector<std::vector<edge>> all(static_cast<std::size_t>(dealt.places));
  const std::int64_t last = g.edges() * (dealt.here + 1) / dealt.places;
  for (std::int64_t k = g.edges() * dealt.here / dealt.places; k < last; ++k) {
    const auto [u, v] = g(k);
    if (u == v) continue;
    all[static_cast<std::size_t>(dealt.owner(u))].push_back({u, v});
    all[static_cast<std::size_t>(dealt.owner(v))].push_back({v, u});
  }
  return all;
}

}  // namespace bfs

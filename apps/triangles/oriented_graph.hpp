// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place's portion of a graph of which each edge is kept once, at the end with fewer edges, so
// that no vertex keeps many: the usual form for counting triangles. A vertex is named by its rank,
// which is its position in the order of degrees, and rank r is at place r % places. Does not use
// the library.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bfs/dealing.hpp"
#include "support/adjacency.hpp"

namespace triangles {

using apps::edge;
using apps::vertex;
using rank = std::uint32_t;
using list = std::span<const rank>;  // in ascending order

// Sorts the edges and removes repetitions.
void normalise(std::vector<edge>& edges);

// By vertex: the number of edges that start from it.
std::vector<std::int32_t> degrees_of(std::span<const edge> edges, std::int64_t vertices);

// By vertex: its position in the order of the degrees, and among equal degrees of the numbers.
std::vector<rank> ranks_of(std::span<const std::int32_t> degrees);

// The edges to a vertex of higher rank, named by ranks. Item p holds those for place p.
std::vector<std::vector<edge>> oriented(std::span<const edge> edges, std::span<const rank> ranks,
                                        const bfs::dealing& dealt);

// The vertices of a place, each with the list of its neighbours of higher rank.
class portion {
 public:
  portion(const bfs::dealing& dealt, std::int64_t vertices, std::span<const edge> oriented);

  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] list of(std::size_t v) const {
    return std::span(higher_).subspan(first_[v], first_[v + 1] - first_[v]);
  }

  // The triangles of the vertex to which the list belongs, at any place, of a vertex in the list
  // that is at this place, and of a later vertex in the list.
  [[nodiscard]] std::int64_t count_with(list of_lowest) const;

  // The lists that count_with() needs at other places. Each list goes once to each place that has
  // one of its vertices, from that vertex on and after its length.
  [[nodiscard]] std::vector<std::vector<rank>> lists_for_places() const;

 private:
  rank places_;
  rank here_;
  std::vector<std::size_t> first_;
  std::vector<rank> higher_;
};

// The lists in what lists_for_places() of other places has put together.
std::vector<list> separate(list received);

}  // namespace triangles

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Undirected graphs in compressed sparse rows, and the generators of the suite's three families.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pbbs {

using vertex = std::uint32_t;
using arc = std::pair<vertex, vertex>;

class graph {
 public:
  // From arcs in any direction and number: loops and duplicates are left out, and each edge is
  // kept in both directions. The neighbours of a vertex are sorted.
  graph(std::size_t vertices, const std::vector<arc>& arcs);

  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  // Each edge counts once.
  [[nodiscard]] std::size_t edges() const { return neighbours_.size() / 2; }
  [[nodiscard]] std::size_t degree(std::size_t v) const { return first_[v + 1] - first_[v]; }
  [[nodiscard]] std::span<const vertex> of(std::size_t v) const {
    return std::span(neighbours_).subspan(first_[v], degree(v));
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<vertex> neighbours_;
};

// The edges of a graph, each once, the smaller vertex first.
[[nodiscard]] std::vector<arc> edges_of(const graph& g);

// R-MAT (Chakrabarti, Zhan, Faloutsos 2004) with the suite's parameters a = 0.5, b = c = 0.1,
// d = 0.3: `n`, rounded up to a power of two, vertices and 5 n arcs before duplicates go.
[[nodiscard]] graph rmat(std::size_t n);
// A torus in three dimensions, with the greatest side s so that s^3 <= n, and at least 3.
[[nodiscard]] graph grid3d(std::size_t n);
// Five arcs from each vertex to others that are near in three dimensions with the probability that
// falls with the distance.
[[nodiscard]] graph random_local(std::size_t n);

// One of them by name: "rmat", "grid3d" or "local".
[[nodiscard]] graph make_graph(const std::string& family, std::size_t n);

}  // namespace pbbs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph of the Graph500 benchmark: a Kronecker graph of 2^scale vertices, a few of which have
// very many edges. Edge k depends only on k and the seed, so each place can generate some of the
// edges.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/adjacency.hpp"
#include "support/random_word.hpp"

namespace bfs {

using apps::edge;
using apps::vertex;

class kronecker {
 public:
  kronecker(int scale, int edge_factor, std::uint64_t seed)
      : scale_(scale), edge_factor_(edge_factor), seed_(seed) {}

  [[nodiscard]] std::int64_t vertices() const { return std::int64_t{1} << scale_; }
  [[nodiscard]] std::int64_t edges() const { return edge_factor_ * vertices(); }

  // Edge k, which may be a loop or a repetition. With the benchmark's probabilities 0.57, 0.19,
  // 0.19 and 0.05, the next bits of the two ends are 0 and 0, 0 and 1, 1 and 0, 1 and 1.
  [[nodiscard]] edge operator()(std::int64_t k) const {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    const std::uint64_t first = static_cast<std::uint64_t>(k) * 64;
    for (int level = 0; level < scale_; ++level) {
      const double x = apps::random_fraction(
          apps::random_word(seed_, first + static_cast<std::uint64_t>(level)));
      from = 2 * from + (x >= 0.76 ? 1 : 0);
      to = 2 * to + ((0.57 <= x && x < 0.76) || x >= 0.95 ? 1 : 0);
    }
    return {scrambled(from), scrambled(to)};
  }

 private:
  // A permutation of the vertices, so that the number of a vertex is independent of its degree.
  [[nodiscard]] vertex scrambled(std::uint64_t v) const {
    const std::uint64_t mask = static_cast<std::uint64_t>(vertices()) - 1;
    for (std::uint64_t round = 0; round < 3; ++round) {
      v = (v * (2 * apps::random_word(seed_, ~round) + 1)) & mask;
      v ^= v >> (scale_ / 2 + 1);
    }
    return static_cast<vertex>(v);
  }

  int scale_;
  int edge_factor_;
  std::uint64_t seed_;
};

inline std::vector<edge> all_edges(const kronecker& g) {
  std::vector<edge> all;
  all.reserve(static_cast<std::size_t>(g.edges()));
  for (std::int64_t k = 0; k < g.edges(); ++k) all.push_back(g(k));
  return all;
}

}  // namespace bfs

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>

#include "pbbs/graph.hpp"
#include "support/random_word.hpp"

namespace pbbs {

graph::graph(std::size_t vertices, const std::vector<arc>& arcs) : first_(vertices + 1) {
  for (const auto& [u, v] : arcs) {
    if (u == v) continue;
    ++first_[u + 1];
    ++first_[v + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
  neighbours_.resize(first_[vertices]);
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const auto& [u, v] : arcs) {
    if (u == v) continue;
    neighbours_[next[u]++] = v;
    neighbours_[next[v]++] = u;
  }
  std::size_t kept = 0;
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto row = neighbours_.begin();
    const auto begin = row + static_cast<std::ptrdiff_t>(first_[v]);
    const auto end = row + static_cast<std::ptrdiff_t>(first_[v + 1]);
    std::sort(begin, end);
    first_[v] = kept;
    for (auto i = begin; i != end; ++i) {
      if (kept == first_[v] || neighbours_[kept - 1] != *i) neighbours_[kept++] = *i;
    }
  }
  first_[vertices] = kept;
  neighbours_.resize(kept);
}

std::vector<arc> edges_of(const graph& g) {
  std::vector<arc> edges;
  edges.reserve(g.edges());
  for (vertex u = 0; u < g.size(); ++u) {
    for (const vertex v : g.of(u)) {
      if (u < v) edges.emplace_back(u, v);
    }
  }
  return edges;
}

graph rmat(std::size_t n) {
  const std::size_t vertices = std::bit_ceil(n);
  std::vector<arc> arcs(5 * n);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    std::uint64_t k = 64 * i;
    auto& [u, v] = arcs[i];
    for (std::size_t half = vertices / 2; half > 0; half /= 2) {
      const double where = apps::random_fraction(apps::random_word(k++));
      if (where >= 0.6) u += static_cast<vertex>(half);
      if ((where >= 0.5 && where < 0.6) || where >= 0.7) v += static_cast<vertex>(half);
    }
  }
  return {vertices, arcs};
}

graph grid3d(std::size_t n) {
  std::size_t side = 3;
  while ((side + 1) * (side + 1) * (side + 1) <= n) ++side;
  std::vector<arc> arcs;
  arcs.reserve(3 * side * side * side);
  const auto at = [side](std::size_t i, std::size_t j, std::size_t k) {
    return static_cast<vertex>((i % side * side + j % side) * side + k % side);
  };
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < side; ++j) {
      for (std::size_t k = 0; k < side; ++k) {
        const vertex here = at(i, j, k);
        arcs.emplace_back(here, at(i + 1, j, k));
        arcs.emplace_back(here, at(i, j + 1, k));
        arcs.emplace_back(here, at(i, j, k + 1));
      }
    }
  }
  return {side * side * side, arcs};
}

graph random_local(std::size_t n) {
  constexpr std::size_t dimensions = 3;
  if (n < 2) return {n, {}};
  std::vector<arc> arcs;
  arcs.reserve(5 * n);
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t k = 0; k < 5; ++k) {
      std::uint64_t h = apps::random_word(5 * v + k);
      // Each further step is half as probable, and makes the reach eight times as large.
      std::size_t reach = std::size_t{1} << (dimensions + 2);
      while (reach < n && (h = apps::random_word(h)) % 2 == 0) reach <<= dimensions;
      const std::size_t distance = 1 + apps::random_word(h) % std::min(reach, n - 1);
      arcs.emplace_back(static_cast<vertex>(v), static_cast<vertex>((v + distance) % n));
    }
  }
  return {n, arcs};
}

graph make_graph(const std::string& family, std::size_t n) {
  if (family == "grid3d") return grid3d(n);
  if (family == "local") return random_local(n);
  return rmat(n);
}

}  // namespace pbbs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph of which the connected components are found, and the components for the check. Does not
// use the library, so that the program in plain MPI (apps/peers) does the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "support/adjacency.hpp"
#include "support/memory.hpp"
#include "support/random_word.hpp"

namespace labelprop {

using apps::edge;
using apps::vertex;

// A random graph: edge k joins two random vertices. Sent to all places.
struct plan {
  std::int64_t vertices;
  std::int64_t edges;
  std::int64_t seed;

  [[nodiscard]] edge edge_at(std::int64_t k) const {
    const auto word = [&](std::int64_t i) {
      const auto from = static_cast<std::uint64_t>(seed);
      return apps::random_word(from, static_cast<std::uint64_t>(i)) %
             static_cast<std::uint64_t>(vertices);
    };
    return {static_cast<vertex>(word(2 * k)), static_cast<vertex>(word(2 * k + 1))};
  }

  // The memory that the places of the host of place 0 need together, in bytes: two labels for each
  // vertex at place 0, of which one is for the check, and the arcs of all places.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    return 16.0 * static_cast<double>(vertices) +
           48.0 * static_cast<double>(edges) * all.part_on_host();
  }
};

// The smallest vertex of each vertex's component, by a serial union-find.
inline std::vector<vertex> components(const plan& p) {
  std::vector<vertex> up(static_cast<std::size_t>(p.vertices));
  std::iota(up.begin(), up.end(), 0);
  const auto smallest = [&up](vertex v) {
    auto* above = &up[static_cast<std::size_t>(v)];
    while (*above != v) {
      const vertex next = up[static_cast<std::size_t>(*above)];
      *above = next;
      v = next;
      above = &up[static_cast<std::size_t>(v)];
    }
    return v;
  };
  for (std::int64_t k = 0; k < p.edges; ++k) {
    const auto [u, v] = p.edge_at(k);
    const auto [low, high] = std::minmax({smallest(u), smallest(v)});
    up[static_cast<std::size_t>(high)] = low;
  }
  for (vertex v = 0; v < p.vertices; ++v) up[static_cast<std::size_t>(v)] = smallest(v);
  return up;
}

// What a program reports about the labels that it found.
struct summary {
  std::int64_t components = 0;
  std::int64_t wrong = 0;  // labels that are not the smallest vertex of the component, or missing
};
inline summary summarise(const plan& p, std::span<const vertex> labels) {
  const std::vector<vertex> expected = components(p);
  summary s;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    s.wrong += v >= labels.size() || labels[v] != expected[v] ? 1 : 0;
    s.components += std::cmp_equal(expected[v], v) ? 1 : 0;
  }
  if (labels.size() > expected.size()) {
    s.wrong += static_cast<std::int64_t>(labels.size() - expected.size());
  }
  return s;
}

}  // namespace labelprop

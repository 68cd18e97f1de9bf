// SPDX-License-Identifier: Apache-2.0
#pragma once

// A random order of things. The greedy algorithms take vertices or edges in such an order, because
// the chains of those that must wait for each other are then short: of logarithmic length with high
// probability (Blelloch, Fineman, Shun: "Greedy sequential maximal independent set and matching are
// parallel on average", SPAA 2012).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pbbs/graph.hpp"
#include "support/random_word.hpp"

namespace pbbs {

template <class T>
void shuffle(std::vector<T>& things) {
  for (std::size_t i = things.size(); i > 1; --i) {
    std::swap(things[i - 1], things[apps::random_word(2, i) % i]);
  }
}

struct vertex_order {
  explicit vertex_order(std::size_t vertices) : at(vertices), rank(vertices) {
    for (std::size_t v = 0; v < vertices; ++v) at[v] = static_cast<vertex>(v);
    shuffle(at);
    for (std::size_t i = 0; i < vertices; ++i) rank[at[i]] = static_cast<vertex>(i);
  }

  std::vector<vertex> at;    // the vertex at each position
  std::vector<vertex> rank;  // the position of each vertex
};

}  // namespace pbbs

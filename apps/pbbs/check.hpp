// SPDX-License-Identifier: Apache-2.0
#pragma once

// The checks of the results of the kernels. Each function returns whether a result is right, for
// every result that a program could leave there. None of them uses a result of the serial program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pbbs/graph.hpp"
#include "pbbs/records.hpp"
#include "pbbs/sequence.hpp"

namespace pbbs {

// Each sum is that of the values before it, and `total` that of all.
inline bool are_sums_before(std::span<const word> values, std::span<const word> sums, word total) {
  if (sums.size() != values.size()) return false;
  word sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (sums[i] != sum) return false;
    sum += values[i];
  }
  return total == sum;
}

// `selected` has the values i for which wanted(i) holds, in their order, and no others.
template <class Wanted>
bool are_selected(std::span<const word> values, std::span<const word> selected, Wanted wanted) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!wanted(i)) continue;
    if (found == selected.size() || selected[found] != values[i]) return false;
    ++found;
  }
  return found == selected.size();
}

// The records are those of all keys, in order, and equal keys in the order of their positions.
// Records that ascend by key and position differ from each other. If each also has the key of its
// position, and there are as many of them as keys, they are those of all keys.
inline bool are_stably_sorted(std::span<const word> keys, std::span<const record> records) {
  if (records.size() != keys.size()) return false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const record& r = records[i];
    if (r.position >= keys.size() || r.key != keys[r.position]) return false;
    if (i == 0) continue;
    const record& before = records[i - 1];
    if (std::pair(before.key, before.position) >= std::pair(r.key, r.position)) return false;
  }
  return true;
}

// Whether a vertex is in the independent set; `open` if that is not decided.
enum class membership : std::uint8_t { open, in, out };

// Independent: no two neighbours are in. Maximal: each vertex that is out has a neighbour in.
inline bool is_maximal_independent_set(const graph& g, std::span<const membership> of) {
  if (of.size() != g.size()) return false;
  for (vertex v = 0; v < g.size(); ++v) {
    const bool beside =
        std::ranges::any_of(g.of(v), [of](vertex u) { return of[u] == membership::in; });
    if (of[v] != (beside ? membership::out : membership::in)) return false;
  }
  return true;
}

inline constexpr vertex nobody = ~vertex{0};

// A matching: the mate of a vertex, if it has one, is a neighbour whose mate is the vertex.
// Maximal: no edge has two vertices without a mate.
inline bool is_maximal_matching(const graph& g, std::span<const vertex> mates) {
  if (mates.size() != g.size()) return false;
  for (vertex v = 0; v < g.size(); ++v) {
    const vertex mate = mates[v];
    const auto neighbours = g.of(v);
    if (mate == nobody) {
      if (std::ranges::any_of(neighbours, [mates](vertex u) { return mates[u] == nobody; })) {
        return false;
      }
    } else if (!std::ranges::binary_search(neighbours, mate) || mates[mate] != v) {
      return false;
    }
  }
  return true;
}

using colour = std::uint32_t;  // from 1 on; 0: none yet

// Proper: every vertex has a colour, and neighbours differ. Greedy: no vertex has a colour beyond
// its degree + 1, and each of them has neighbours with all lesser colours.
inline bool is_greedy_colouring(const graph& g, std::span<const colour> colours) {
  if (colours.size() != g.size()) return false;
  for (vertex v = 0; v < g.size(); ++v) {
    const colour mine = colours[v];
    if (mine == 0 || mine > g.degree(v) + 1) return false;
    std::vector<bool> beside(mine + 1);
    for (const vertex u : g.of(v)) {
      if (colours[u] <= mine) beside[colours[u]] = true;
    }
    if (beside[mine]) return false;
    if (std::find(beside.begin() + 1, beside.end() - 1, false) != beside.end() - 1) return false;
  }
  return true;
}

using distance = std::uint32_t;
inline constexpr distance unreached = ~distance{0};

// The source, and only it, has distance 0. The distances of neighbours differ by at most 1, and
// both or none of them were reached. Every other vertex that was reached has a neighbour that is
// nearer; so a component without the source was not reached.
inline bool are_distances(const graph& g, vertex source, std::span<const distance> distances) {
  if (distances.size() != g.size()) return false;
  for (vertex v = 0; v < g.size(); ++v) {
    const distance mine = distances[v];
    if ((mine == 0) != (v == source)) return false;
    bool nearer = v == source || mine == unreached;
    for (const vertex u : g.of(v)) {
      const distance other = distances[u];
      if ((mine == unreached) != (other == unreached)) return false;
      if (mine == unreached) continue;
      if (other + 1 < mine) return false;
      nearer = nearer || other + 1 == mine;
    }
    if (!nearer) return false;
  }
  return true;
}

}  // namespace pbbs

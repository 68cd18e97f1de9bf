// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bfs/tree.hpp"

namespace bfs {
namespace {

std::size_t at(vertex v) { return static_cast<std::size_t>(v); }

template <class... Words>
std::string text(const Words&... words) {
  std::ostringstream all;
  (all << ... << words);
  return all.str();
}

bool reached(const tree& t, vertex v) { return t.parents[at(v)] != nobody; }

std::optional<std::string> cycle(const tree& t) {
  const auto n = static_cast<vertex>(t.parents.size());
  if (t.parents[at(t.root)] != t.root) return text("rule 1: the root ", t.root, " has a parent");
  std::vector<bool> leads_to_root(t.parents.size());
  leads_to_root[at(t.root)] = true;
  std::vector<vertex> way;
  for (vertex v = 0; v < n; ++v) {
    if (!reached(t, v)) continue;
    way.clear();
    for (vertex u = v; !leads_to_root[at(u)]; u = t.parents[at(u)]) {
      const vertex parent = t.parents[at(u)];
      if (parent < 0 || parent >= n) return text("rule 1: ", u, " has the parent ", parent);
      if (way.size() == t.parents.size()) return text("rule 1: a cycle above ", v);
      way.push_back(u);
    }
    for (const vertex u : way) leads_to_root[at(u)] = true;
  }
  return std::nullopt;
}

std::optional<std::string> wrong_level(const tree& t) {
  if (t.levels[at(t.root)] != 0) return text("rule 2: the root's level is ", t.levels[at(t.root)]);
  for (std::size_t v = 0; v < t.parents.size(); ++v) {
    const vertex parent = t.parents[v];
    const std::int32_t wanted = parent == nobody ? -1 : t.levels[at(parent)] + 1;
    if (std::cmp_not_equal(v, t.root) && t.levels[v] != wanted) {
      return text("rule 2: ", v, " has level ", t.levels[v], ", its parent is ", parent);
    }
  }
  return std::nullopt;
}

// Rules 3, 4 and 5, which check all edges.
std::optional<std::string> wrong_edge(const tree& t, std::span<const edge> graph) {
  std::vector<bool> joined(t.parents.size());  // to its parent, by an edge of the graph
  joined[at(t.root)] = true;
  for (const auto& [u, v] : graph) {
    if (reached(t, u) != reached(t, v)) return text("rule 4: only one end of ", u, "-", v);
    if (!reached(t, u)) continue;
    if (std::abs(t.levels[at(u)] - t.levels[at(v)]) > 1) {
      return text("rule 3: ", u, "-", v, " joins ", t.levels[at(u)], " and ", t.levels[at(v)]);
    }
    if (t.parents[at(v)] == u) joined[at(v)] = true;
    if (t.parents[at(u)] == v) joined[at(u)] = true;
  }
  for (std::size_t v = 0; v < joined.size(); ++v) {
    if (t.parents[v] != nobody && !joined[v]) {
      return text("rule 5: ", v, " has no edge to its parent ", t.parents[v]);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_rule(const tree& t, std::span<const edge> graph) {
  if (auto problem = cycle(t)) return problem;
  if (auto problem = wrong_level(t)) return problem;
  return wrong_edge(t, graph);
}

std::int64_t edges_within(const tree& t, std::span<const edge> graph) {
  return std::ranges::count_if(graph, [&t](const edge& e) { return reached(t, e.from); });
}

std::vector<vertex> pick_roots(const kronecker& g, std::span<const edge> graph, int count,
                               std::uint64_t seed) {
  std::vector<bool> candidate(static_cast<std::size_t>(g.vertices()));
  for (const auto& [u, v] : graph) {
    if (u != v) candidate[at(u)] = candidate[at(v)] = true;
  }
  auto left = std::ranges::count(candidate, true);
  std::vector<vertex> roots;
  for (std::uint64_t k = 0; left > 0 && roots.size() < static_cast<std::size_t>(count); ++k) {
    const auto v = apps::random_word(~seed, k) % static_cast<std::uint64_t>(g.vertices());
    if (!candidate[v]) continue;
    candidate[v] = false;
    --left;
    roots.push_back(static_cast<vertex>(v));
  }
  return roots;
}

}  // namespace bfs

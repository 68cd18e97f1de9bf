// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <ranges>

#include "wait_graph.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// The edges sorted by their first node: those of node n are at [first[n], first[n + 1]).
struct sorted_edges {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> order;
};

sorted_edges sort_edges(std::uint32_t nodes, const std::vector<wait_graph::edge>& edges) {
  sorted_edges s{std::vector<std::uint32_t>(std::size_t{nodes} + 1),
                 std::vector<std::uint32_t>(edges.size())};
  for (const auto& e : edges) ++s.first[e.from + 1];
  for (std::uint32_t n = 0; n < nodes; ++n) s.first[n + 1] += s.first[n];
  std::vector<std::uint32_t> next(s.first.begin(), s.first.end() - 1);
  for (std::uint32_t i = 0; i < edges.size(); ++i) s.order[next[edges[i].from]++] = i;
  return s;
}

}  // namespace

// A depth-first search with a path of its own in place of recursion. An edge to a node of the path
// closes a cycle.
std::vector<wait_graph::edge> wait_graph::find_cycle() const {
  enum class state : std::uint8_t { unseen, on_path, done };
  const sorted_edges sorted = sort_edges(nodes_, edges_);
  std::vector<std::uint32_t> next(sorted.first.begin(), sorted.first.end() - 1);
  std::vector<state> states(nodes_, state::unseen);
  std::vector<std::uint32_t> path;  // the edges that lead from the root to the present node
  for (node root = 0; root < nodes_; ++root) {
    if (states[root] != state::unseen) continue;
    states[root] = state::on_path;
    for (node at = root;;) {
      if (next[at] == sorted.first[at + 1]) {
        states[at] = state::done;
        if (path.empty()) break;
        at = edges_[path.back()].from;
        path.pop_back();
        continue;
      }
      const std::uint32_t taken = sorted.order[next[at]++];
      const node to = edges_[taken].to;
      if (states[to] == state::done) continue;
      path.push_back(taken);
      if (states[to] == state::on_path) {
        std::vector<edge> cycle;  // backwards
        for (const std::uint32_t e : std::views::reverse(path)) {
          cycle.push_back(edges_[e]);
          if (edges_[e].from == to) break;
        }
        std::ranges::reverse(cycle);
        return cycle;
      }
      states[to] = state::on_path;
      at = to;
    }
  }
  return {};
}

}  // namespace apgas::inline v0::scheduler

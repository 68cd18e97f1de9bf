// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "sssp/serial.hpp"

namespace sssp {

std::vector<length> dijkstra(const arcs& graph, std::size_t root) {
  using entry = std::pair<length, std::size_t>;
  std::vector<length> lengths(graph.size(), unreached);
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
  lengths[root] = 0;
  queue.emplace(0, root);
  while (!queue.empty()) {
    const auto [so_far, v] = queue.top();
    queue.pop();
    if (so_far != lengths[v]) continue;  // a shorter path was found
    for (const arc& a : graph.of(v)) {
      length& there = lengths[a.index];
      if (so_far + a.weight >= there) continue;
      there = so_far + a.weight;
      queue.emplace(there, a.index);
    }
  }
  return lengths;
}

std::int64_t wrong_lengths(const arcs& graph, std::span<const length> lengths, std::size_t root) {
  std::vector<bool> wrong(lengths.size());
  std::vector<bool> explained(lengths.size());
  wrong[root] = lengths[root] != 0;
  explained[root] = true;
  for (std::size_t v = 0; v < lengths.size(); ++v) {
    if (lengths[v] == unreached) continue;
    for (const arc& a : graph.of(v)) {
      if (lengths[v] + a.weight < lengths[a.index]) wrong[a.index] = true;
      if (lengths[v] + a.weight == lengths[a.index]) explained[a.index] = true;
    }
  }
  std::int64_t count = 0;
  for (std::size_t v = 0; v < lengths.size(); ++v) {
    count += wrong[v] || (lengths[v] != unreached && !explained[v]) ? 1 : 0;
  }
  return count;
}

summary summarise(const arcs& graph, std::span<const length> lengths, std::size_t root) {
  summary s;
  if (lengths.size() != graph.size()) {
    s.wrong = 1;
    return s;
  }
  s.wrong = wrong_lengths(graph, lengths, root);
  const std::vector<length> expected = dijkstra(graph, root);
  for (std::size_t v = 0; v < expected.size(); ++v) {
    s.wrong += lengths[v] != expected[v] ? 1 : 0;
    if (lengths[v] == unreached) continue;
    ++s.reached;
    s.longest = std::max(s.longest, lengths[v]);
  }
  return s;
}

}  // namespace sssp

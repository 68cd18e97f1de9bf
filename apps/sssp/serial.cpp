// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "sssp/serial.hpp"

namespace sssp {

std::vector<length> dijkstra(const arcs& graph, std::size_t vertices, vertex root) {
  using entry = std::pair<length, vertex>;
  std::vector<length> lengths(vertices, unreached);
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
  lengths[static_cast<std::size_t>(root)] = 0;
  queue.emplace(0, root);
  while (!queue.empty()) {
    const auto [so_far, v] = queue.top();
    queue.pop();
    if (so_far != lengths[static_cast<std::size_t>(v)]) continue;  // a shorter path was found
    for (const arc& a : graph.of(static_cast<std::size_t>(v))) {
      length& there = lengths[static_cast<std::size_t>(a.to)];
      if (so_far + a.weight >= there) continue;
      there = so_far + a.weight;
      queue.emplace(there, a.to);
    }
  }
  return lengths;
}

std::int64_t wrong_lengths(const arcs& graph, std::span<const length> lengths, vertex root) {
  std::vector<bool> wrong(lengths.size());
  std::vector<bool> explained(lengths.size());
  explained[static_cast<std::size_t>(root)] = lengths[static_cast<std::size_t>(root)] == 0;
  for (const arc& a : graph.all()) {
    const length from = lengths[static_cast<std::size_t>(a.from)];
    const auto to = static_cast<std::size_t>(a.to);
    if (from == unreached) continue;
    if (from + a.weight < lengths[to]) wrong[to] = true;
    if (from + a.weight == lengths[to]) explained[to] = true;
  }
  std::int64_t count = 0;
  for (std::size_t v = 0; v < lengths.size(); ++v) {
    count += wrong[v] || (lengths[v] != unreached && !explained[v]) ? 1 : 0;
  }
  return count;
}

}  // namespace sssp

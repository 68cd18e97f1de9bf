// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/apgas.hpp>

#include "bfs/part.hpp"
#include "support/exchange.hpp"

namespace bfs {

part::part(const kronecker& g)
    : dealt_{apgas::num_places(), apgas::here().id()},
      parents_(dealt_.size(g.vertices())),
      levels_(parents_.size()) {
  const auto came = apps::exchange(apgas::team::world(), share_of_edges(g, dealt_));
  neighbours_ =
      apps::adjacency(parents_.size(), came.values, [this](vertex v) { return dealt_.at(v); });
}

void part::forget() {
  std::ranges::fill(parents_, nobody);
  std::ranges::fill(levels_, -1);
}

void part::visit(vertex v, vertex parent, int level) {
  const std::atomic_ref mine(parents_[dealt_.at(v)]);
  vertex expected = nobody;
  if (mine.load(std::memory_order_relaxed) == nobody &&
      mine.compare_exchange_strong(expected, parent, std::memory_order_relaxed)) {
    reached_by(level)->push_back(v);
  }
}

std::vector<vertex> part::take_frontier(int level) {
  std::vector<vertex> all;
  for (auto& each : reached_by(level)) {
    all.insert(all.end(), each.begin(), each.end());
    each.clear();
  }
  for (const vertex v : all) levels_[dealt_.at(v)] = level;
  return all;
}

}  // namespace bfs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place's portion of the graph, and of the state of a search.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

#include "bfs/dealing.hpp"
#include "bfs/kronecker.hpp"
#include "bfs/tree.hpp"
#include "support/adjacency.hpp"

namespace bfs {

class part {
 public:
  // A collective.
  explicit part(const kronecker& g);

  void forget();

  // Adds v to the next level, unless it has been reached before. Context: a worker. Several tasks
  // may call it at the same time.
  void visit(vertex v, vertex parent, int level);

  // Removes and returns the vertices of a level, once all places have finished the level before.
  std::vector<vertex> take_frontier(int level);

  [[nodiscard]] std::span<const vertex> neighbours(vertex v) const {
    return neighbours_.of(dealt_.at(v));
  }
  [[nodiscard]] const dealing& dealt() const { return dealt_; }
  [[nodiscard]] const std::vector<vertex>& parents() const { return parents_; }
  [[nodiscard]] const std::vector<std::int32_t>& levels() const { return levels_; }

 private:
  using found = apgas::worker_local<std::vector<vertex>>;

  // Visits from other places may arrive while this place still collects the vertices of the
  // previous level.
  found& reached_by(int level) { return found_[static_cast<std::size_t>(level) % 2]; }

  dealing dealt_;
  std::vector<vertex> parents_;
  std::vector<std::int32_t> levels_;
  apps::adjacency neighbours_;
  std::array<found, 2> found_;
};

}  // namespace bfs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place's part of the graph and of a search of it.

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

  // Of the next level, unless it was reached before. Context: a worker; several may be at it.
  void visit(vertex v, vertex parent, int level);

  // Takes the vertices of that level, which all places have finished finding.
  std::vector<vertex> take_frontier(int level);

  [[nodiscard]] std::span<const vertex> neighbours(vertex v) const {
    return neighbours_.of(dealt_.at(v));
  }
  [[nodiscard]] const dealing& dealt() const { return dealt_; }
  [[nodiscard]] const std::vector<vertex>& parents() const { return parents_; }
  [[nodiscard]] const std::vector<std::int32_t>& levels() const { return levels_; }

 private:
  using found = apgas::worker_local<std::vector<vertex>>;

  // Visitors may come while this place still collects what the level before found.
  found& reached_by(int level) { return found_[static_cast<std::size_t>(level) % 2]; }

  dealing dealt_;
  std::vector<vertex> parents_;
  std::vector<std::int32_t> levels_;
  apps::adjacency neighbours_;
  std::array<found, 2> found_;
};

}  // namespace bfs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a breadth-first search gives, and how it is checked and rated, as the Graph500 benchmark
// says. Serial, and without the library, so that others who search can be checked as well.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bfs/kronecker.hpp"

namespace bfs {

inline constexpr vertex nobody = -1;

// By vertex: its parent, the root's is itself, and its distance from the root; both are -1 where
// the search did not come.
struct tree {
  vertex root;
  std::vector<vertex> parents;
  std::vector<std::int32_t> levels;
};

// Which of the benchmark's five rules the tree breaks, and where; nothing if it keeps them:
//   1  the tree has no cycle;                2  a tree edge joins levels that differ by one;
//   3  an edge of the graph joins levels that differ by one at most;
//   4  the tree spans the root's component;  5  a tree edge is an edge of the graph.
[[nodiscard]] std::optional<std::string> broken_rule(const tree& t, std::span<const edge> graph);

// The edges of the root's component, loops and repeated ones too: those that count for the rate.
[[nodiscard]] std::int64_t edges_within(const tree& t, std::span<const edge> graph);

// Up to `count` different vertices with an edge to another, at random.
[[nodiscard]] std::vector<vertex> pick_roots(const kronecker& g, std::span<const edge> graph,
                                             int count, std::uint64_t seed);

// Traversed edges per second, of several searches: their harmonic mean.
class rating {
 public:
  void add(std::int64_t edges, double seconds) {
    seconds_ += seconds;
    if (edges > 0) seconds_per_edge_ += seconds / static_cast<double>(edges);
    ++searches_;
  }
  [[nodiscard]] double teps() const {
    return seconds_per_edge_ > 0 ? searches_ / seconds_per_edge_ : 0;
  }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] int searches() const { return searches_; }

 private:
  double seconds_ = 0;
  double seconds_per_edge_ = 0;
  int searches_ = 0;
};

}  // namespace bfs

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The result of a breadth-first search, and how it is checked and rated according to the Graph500
// benchmark. Serial, and without the library, so that other searches can be checked as well.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bfs/kronecker.hpp"

namespace bfs {

inline constexpr vertex nobody = -1;

// For each vertex: its parent, which for the root is the root itself, and its distance from the
// root. Both are -1 for vertices that the search did not reach.
struct tree {
  vertex root;
  std::vector<vertex> parents;
  std::vector<std::int32_t> levels;
};

// Returns which of the benchmark's five rules the tree violates, and where, or nothing:
//   1  the tree has no cycle;                2  a tree edge joins levels that differ by one;
//   3  an edge of the graph joins levels that differ by at most one;
//   4  the tree spans the root's component;  5  a tree edge is an edge of the graph.
[[nodiscard]] std::optional<std::string> broken_rule(const tree& t, std::span<const edge> graph);

// The number of edges in the root's component, including loops and repeated edges, which count for
// the rate.
[[nodiscard]] std::int64_t edges_within(const tree& t, std::span<const edge> graph);

// Up to `count` different random vertices, each with an edge to another vertex.
[[nodiscard]] std::vector<vertex> pick_roots(const kronecker& g, std::span<const edge> graph,
                                             int count, std::uint64_t seed);

// The harmonic mean of the traversed edges per second over several searches.
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

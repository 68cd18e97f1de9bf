// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "wait_graph.hpp"

// The search for a cycle in the wait-for graph.
namespace apgas::test {
namespace {

using scheduler::wait_graph;

wait_graph graph_of(std::uint32_t nodes, const std::vector<wait_graph::edge>& edges) {
  wait_graph g;
  g.set_nodes(nodes);
  for (const auto& e : edges) g.add(e);
  return g;
}

// Whether each edge begins where the one before it ends, in a circle.
bool closes(const std::vector<wait_graph::edge>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle[i].to != cycle[(i + 1) % cycle.size()].from) return false;
  }
  return !cycle.empty();
}

TEST(WaitGraph, HasNoCycleWithoutEdges) {
  EXPECT_TRUE(graph_of(0, {}).find_cycle().empty());
  EXPECT_TRUE(graph_of(3, {}).find_cycle().empty());
}

TEST(WaitGraph, FindsATaskThatWaitsForItself) {
  const auto cycle = graph_of(2, {{0, 1, 5}, {1, 0, 6}}).find_cycle();
  EXPECT_EQ(cycle, (std::vector<wait_graph::edge>{{0, 1, 5}, {1, 0, 6}}));
}

TEST(WaitGraph, LeavesOutTheWayToTheCycle) {
  const auto cycle =
      graph_of(6, {{0, 1, 0}, {1, 2, 0}, {2, 3, 1}, {3, 4, 2}, {4, 2, 3}}).find_cycle();
  EXPECT_EQ(cycle, (std::vector<wait_graph::edge>{{2, 3, 1}, {3, 4, 2}, {4, 2, 3}}));
}

TEST(WaitGraph, TwoWaysToOneNodeAreNoCycle) {
  EXPECT_TRUE(graph_of(4, {{0, 1, 0}, {0, 2, 0}, {1, 3, 0}, {2, 3, 0}}).find_cycle().empty());
}

TEST(WaitGraph, AgreesWithTheTransitiveClosure) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t nodes = 2 + random() % 8;
    std::vector<wait_graph::edge> edges;
    std::vector<std::vector<bool>> reaches(nodes, std::vector<bool>(nodes));
    for (std::uint32_t i = random() % (2 * nodes); i > 0; --i) {
      const wait_graph::edge e{static_cast<std::uint32_t>(random() % nodes),
                               static_cast<std::uint32_t>(random() % nodes), i};
      edges.push_back(e);
      reaches[e.from][e.to] = true;
    }
    for (std::uint32_t k = 0; k < nodes; ++k) {
      for (std::uint32_t i = 0; i < nodes; ++i) {
        for (std::uint32_t j = 0; j < nodes; ++j) {
          if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
        }
      }
    }
    bool has_cycle = false;
    for (std::uint32_t i = 0; i < nodes; ++i) has_cycle |= reaches[i][i];
    const auto cycle = graph_of(nodes, edges).find_cycle();
    ASSERT_EQ(!cycle.empty(), has_cycle);
    if (has_cycle) {
      ASSERT_TRUE(closes(cycle));
      for (const auto& e : cycle) ASSERT_NE(std::ranges::find(edges, e), edges.end());
    }
  }
}

TEST(WaitGraph, SearchesAMillionNodesWithoutRecursion) {
  constexpr std::uint32_t nodes = 1'000'000;
  wait_graph g;
  g.set_nodes(nodes);
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) {
    g.add({i, i + 1, 0});
    g.add({i, nodes - 1, 0});
  }
  EXPECT_TRUE(g.find_cycle().empty());
  g.add({nodes - 1, 0, 0});
  EXPECT_TRUE(closes(g.find_cycle()));
}

}  // namespace
}  // namespace apgas::test

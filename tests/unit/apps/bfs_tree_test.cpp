// SPDX-License-Identifier: Apache-2.0

// The checker of apps/bfs: it accepts the tree of a serial search, and names the rule that a
// damaged one breaks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bfs/kronecker.hpp"
#include "bfs/tree.hpp"

namespace {

using bfs::edge;
using bfs::nobody;
using bfs::vertex;

std::size_t at(vertex v) { return static_cast<std::size_t>(v); }

bfs::tree search(const std::vector<edge>& graph, vertex vertices, vertex root) {
  bfs::tree t{root, std::vector<vertex>(at(vertices), nobody),
              std::vector<std::int32_t>(at(vertices), -1)};
  t.parents[at(root)] = root;
  t.levels[at(root)] = 0;
  std::deque<vertex> next{root};
  while (!next.empty()) {
    const vertex v = next.front();
    next.pop_front();
    for (const auto& [a, b] : graph) {
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        if (from != v || t.parents[at(to)] != nobody) continue;
        t.parents[at(to)] = v;
        t.levels[at(to)] = t.levels[at(v)] + 1;
        next.push_back(to);
      }
    }
  }
  return t;
}

// A way 0-1-2-3-4, an edge 0-2, and two vertices apart.
const std::vector<edge> small{{0, 1}, {2, 1}, {2, 3}, {3, 4}, {0, 2}, {5, 6}, {3, 3}};

std::string broken(const bfs::tree& t) {
  return bfs::broken_rule(t, small).value_or("none").substr(0, 6);
}

TEST(BfsTree, AcceptsTheTreesOfASerialSearch) {
  EXPECT_EQ(broken(search(small, 7, 0)), "none");
  EXPECT_EQ(broken(search(small, 7, 4)), "none");
  EXPECT_EQ(broken(search(small, 7, 6)), "none");
  const bfs::kronecker g(7, 4, 3);
  const std::vector<edge> graph = bfs::all_edges(g);
  for (const vertex root : bfs::pick_roots(g, graph, 8, 3)) {
    EXPECT_EQ(bfs::broken_rule(search(graph, g.vertices(), root), graph), std::nullopt);
  }
}

TEST(BfsTree, FindsACycle) {
  bfs::tree t = search(small, 7, 0);
  t.parents[at(3)] = 4;
  EXPECT_EQ(broken(t), "rule 1");
  t = search(small, 7, 0);
  t.parents[at(0)] = 1;
  EXPECT_EQ(broken(t), "rule 1");
  t = search(small, 7, 0);
  t.parents[at(4)] = 7;
  EXPECT_EQ(broken(t), "rule 1");
}

TEST(BfsTree, FindsATreeEdgeOverTwoLevels) {
  bfs::tree t = search(small, 7, 0);
  t.levels[at(4)] = 4;
  EXPECT_EQ(broken(t), "rule 2");
  t = search(small, 7, 0);
  t.levels[at(0)] = 1;
  EXPECT_EQ(broken(t), "rule 2");
  t = search(small, 7, 0);
  t.levels[at(5)] = 3;  // nobody came there
  EXPECT_EQ(broken(t), "rule 2");
}

TEST(BfsTree, FindsAPathThatIsNotTheShortest) {
  bfs::tree t = search(small, 7, 0);
  t.parents[at(2)] = 1;  // 0-2 is an edge
  t.levels = {0, 1, 2, 3, 4, -1, -1};
  EXPECT_EQ(broken(t), "rule 3");
}

TEST(BfsTree, FindsAVertexThatWasLeftOut) {
  bfs::tree t = search(small, 7, 0);
  t.parents[at(4)] = nobody;
  t.levels[at(4)] = -1;
  EXPECT_EQ(broken(t), "rule 4");
}

TEST(BfsTree, FindsATreeEdgeThatIsNotInTheGraph) {
  bfs::tree t = search(small, 7, 0);
  t.parents[at(3)] = 1;  // as near to the root as 2 is
  EXPECT_EQ(broken(t), "rule 5");
}

TEST(BfsTree, CountsTheEdgesOfTheComponent) {
  EXPECT_EQ(bfs::edges_within(search(small, 7, 0), small), 6);
  EXPECT_EQ(bfs::edges_within(search(small, 7, 5), small), 1);
}

TEST(Kronecker, IsTheSameForTheSameSeedAndHasEveryVertexOnce) {
  const bfs::kronecker g(6, 16, 5);
  const bfs::kronecker other(6, 16, 6);
  int different = 0;
  std::set<vertex> ends;
  for (std::int64_t k = 0; k < g.edges(); ++k) {
    const auto [u, v] = g(k);
    EXPECT_EQ(u, bfs::kronecker(6, 16, 5)(k).from);
    different += u != other(k).from || v != other(k).to ? 1 : 0;
    ends.insert({u, v});
  }
  EXPECT_GT(different, 900);
  EXPECT_GE(*ends.begin(), 0);
  EXPECT_LT(*ends.rbegin(), 64);
  EXPECT_GT(ends.size(), 40U);  // a scrambling that is no permutation would leave few
}

TEST(Kronecker, PicksDifferentRootsThatHaveAnEdge) {
  const bfs::kronecker g(3, 1, 1);
  const std::vector<edge> graph{{1, 2}, {3, 3}, {5, 4}};
  const std::vector<vertex> roots = bfs::pick_roots(g, graph, 64, 1);
  EXPECT_EQ(std::set(roots.begin(), roots.end()), (std::set<vertex>{1, 2, 4, 5}));
  EXPECT_EQ(roots.size(), 4U);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0

// The checks of the programs on graphs: sssp, triangles and labelprop.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "labelprop/random_graph.hpp"
#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"
#include "triangles/oriented_graph.hpp"
#include "triangles/whole_graph.hpp"

namespace {

using sssp::unreached;

// The roads 0 -2- 1 -3- 2, 0 -7- 2 and 2 -1- 3, and the vertices 4 and 5 apart from them.
const std::vector<sssp::length> right_lengths{0, 2, 5, 6, unreached, unreached};

sssp::arcs roads() {
  std::vector<sssp::weighted_edge> edges;
  for (const sssp::weighted_edge& e :
       std::vector<sssp::weighted_edge>{{0, 1, 2}, {1, 2, 3}, {0, 2, 7}, {2, 3, 1}, {4, 5, 9}}) {
    edges.push_back(e);
    edges.push_back({e.to, e.from, e.weight});
  }
  return {6, {1, 0}, edges};
}

using length_change = std::function<void(std::vector<sssp::length>&)>;

std::vector<sssp::length> changed_lengths(const length_change& change) {
  std::vector<sssp::length> lengths = right_lengths;
  change(lengths);
  return lengths;
}

// Whether the rules of shortest paths, without those of Dijkstra's algorithm, accept the lengths.
bool rules_accept(const length_change& change) {
  return sssp::wrong_lengths(roads(), changed_lengths(change), 0) == 0;
}
std::int64_t wrong_in_summary(const length_change& change) {
  return sssp::summarise(roads(), changed_lengths(change), 0).wrong;
}

void expect_refused(const length_change& change) {
  EXPECT_FALSE(rules_accept(change));
  EXPECT_GT(wrong_in_summary(change), 0);
}

TEST(SsspCheck, AcceptsTheLengthsOfTheShortestPaths) {
  EXPECT_TRUE(rules_accept([](auto&) {}));
  const sssp::summary s = sssp::summarise(roads(), right_lengths, 0);
  EXPECT_EQ(s.wrong, 0);
  EXPECT_EQ(s.reached, 4);
  EXPECT_EQ(s.longest, 6);
  EXPECT_EQ(sssp::dijkstra(roads(), 0), right_lengths);
}

TEST(SsspCheck, RefusesALengthThatIsTooLargeOrTooSmall) {
  for (std::size_t v = 0; v < 4; ++v) {
    for (const sssp::length by : {1, -1, 100}) {
      expect_refused([=](auto& lengths) { lengths[v] += by; });
    }
  }
  // The road 0 -7- 2 accounts for this, and 8 for vertex 3; but 0 -2- 1 -3- 2 is shorter.
  expect_refused([](auto& lengths) {
    lengths[2] = 7;
    lengths[3] = 8;
  });
}

TEST(SsspCheck, RefusesAVertexThatIsReachedAndNotSaidToBeOrViceVersa) {
  expect_refused([](auto& lengths) { lengths[3] = unreached; });
  expect_refused([](auto& lengths) { lengths.assign(6, unreached); });
  expect_refused([](auto& lengths) { lengths[4] = 3; });
  // Each of the two accounts for the other only if its road has no length.
  expect_refused([](auto& lengths) {
    lengths[4] = 3;
    lengths[5] = 12;
  });
}

TEST(SsspCheck, RefusesTheLengthsFromAnotherRootAndAnotherNumberOfThem) {
  EXPECT_GT(sssp::summarise(roads(), sssp::dijkstra(roads(), 1), 0).wrong, 0);
  EXPECT_GT(wrong_in_summary([](auto& lengths) { lengths.pop_back(); }), 0);
  EXPECT_GT(wrong_in_summary([](auto& lengths) { lengths.push_back(unreached); }), 0);
  EXPECT_GT(wrong_in_summary([](auto& lengths) { lengths.clear(); }), 0);
}

using triangles::edge;

std::vector<edge> both_ways(const std::vector<edge>& edges) {
  std::vector<edge> all;
  for (const auto& [u, v] : edges) {
    all.push_back({u, v});
    all.push_back({v, u});
  }
  triangles::normalise(all);
  return all;
}

std::int64_t count_by_lists(const std::vector<edge>& edges, std::int64_t vertices) {
  const triangles::portion graph = triangles::at_one_place(edges, vertices);
  std::int64_t count = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) count += graph.count_with(graph.of(v));
  return count;
}

void expect_triangles(std::int64_t expected, const std::vector<edge>& edges,
                      std::int64_t vertices) {
  const std::vector<edge> all = both_ways(edges);
  EXPECT_EQ(triangles::count_by_marks(all, vertices), expected);
  EXPECT_EQ(count_by_lists(all, vertices), expected);
}

// The program compares the count of its lists with that of the marks.
TEST(TrianglesCheck, TheExpectedNumberIsRightForKnownGraphs) {
  expect_triangles(0, {}, 3);
  expect_triangles(0, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 4);
  expect_triangles(1, {{2, 0}, {0, 1}, {1, 2}}, 3);
  expect_triangles(2, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 2}}, 4);
  expect_triangles(2, {{0, 1}, {1, 2}, {2, 0}, {5, 3}, {3, 4}, {4, 5}, {2, 3}}, 6);
  std::vector<edge> complete;
  for (apps::vertex u = 0; u < 7; ++u) {
    for (apps::vertex v = 0; v < u; ++v) complete.push_back({u, v});
  }
  expect_triangles(35, complete, 7);
  complete.push_back({3, 2});  // once more
  expect_triangles(35, complete, 7);
  complete.erase(complete.begin());
  expect_triangles(30, complete, 7);  // without an edge, which was in five
}

TEST(TrianglesCheck, TheExpectedNumberIsThatOfAllTriplesOfAKroneckerGraph) {
  const bfs::kronecker g(6, 6, 9);
  const std::vector<edge> edges = triangles::whole_graph(g);
  const auto n = static_cast<std::size_t>(g.vertices());
  std::vector<std::vector<bool>> joined(n, std::vector<bool>(n));
  for (const edge& e : edges) {
    joined[static_cast<std::size_t>(e.from)][static_cast<std::size_t>(e.to)] = true;
  }
  std::int64_t expected = 0;
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = 0; v < u; ++v) {
      for (std::size_t w = 0; w < v; ++w) {
        expected += joined[u][v] && joined[v][w] && joined[w][u] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(expected, 100);
  EXPECT_EQ(triangles::count_by_marks(edges, g.vertices()), expected);
  EXPECT_EQ(count_by_lists(edges, g.vertices()), expected);
}

TEST(TrianglesCheck, AnEdgeOfATriangleThatIsLostGivesAnotherNumber) {
  const bfs::kronecker g(6, 6, 9);
  const std::vector<edge> edges = triangles::whole_graph(g);
  const std::int64_t expected = triangles::count_by_marks(edges, g.vertices());
  std::size_t different = 0;
  for (std::size_t lost = 0; lost < edges.size(); ++lost) {
    std::vector<edge> fewer;
    for (const edge& e : edges) {
      const bool is_lost = (e.from == edges[lost].from && e.to == edges[lost].to) ||
                           (e.to == edges[lost].from && e.from == edges[lost].to);
      if (!is_lost) fewer.push_back(e);
    }
    different += count_by_lists(fewer, g.vertices()) < expected ? 1 : 0;
  }
  EXPECT_GT(different, edges.size() / 2);
}

constexpr labelprop::plan sparse{.vertices = 60, .edges = 40, .seed = 6};

// By vertex: the smallest vertex that can be reached from it, by repeated passes over all edges.
std::vector<apps::vertex> labels_by_passes() {
  std::vector<apps::vertex> labels;
  for (apps::vertex v = 0; v < sparse.vertices; ++v) labels.push_back(v);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::int64_t k = 0; k < sparse.edges; ++k) {
      const auto [u, v] = sparse.edge_at(k);
      auto& a = labels[static_cast<std::size_t>(u)];
      auto& b = labels[static_cast<std::size_t>(v)];
      changed = changed || a != b;
      a = b = std::min(a, b);
    }
  }
  return labels;
}

std::int64_t wrong_labels_after(const std::function<void(std::vector<apps::vertex>&)>& spoil) {
  std::vector<apps::vertex> labels = labels_by_passes();
  spoil(labels);
  return labelprop::summarise(sparse, labels).wrong;
}

TEST(LabelpropCheck, AcceptsTheSmallestVertexOfEachComponent) {
  const labelprop::summary s = labelprop::summarise(sparse, labels_by_passes());
  EXPECT_EQ(s.wrong, 0);
  EXPECT_GT(s.components, 10);
  EXPECT_LT(s.components, 40);
}

TEST(LabelpropCheck, RefusesALabelThatIsTooSmallOrTooLarge) {
  for (std::size_t v = 0; v < 60; ++v) {
    EXPECT_EQ(wrong_labels_after([v](auto& labels) { ++labels[v]; }), 1);
    EXPECT_EQ(wrong_labels_after([v](auto& labels) { --labels[v]; }), 1);
  }
}

TEST(LabelpropCheck, RefusesLabelsThatMergeTwoComponents) {
  EXPECT_GT(wrong_labels_after([](auto& labels) {
              const apps::vertex other =
                  *std::ranges::find_if(labels, [](auto v) { return v > 0; });
              std::ranges::replace(labels, other, apps::vertex{0});
            }),
            0);
}

TEST(LabelpropCheck, RefusesLabelsThatSplitAComponent) {
  EXPECT_GT(wrong_labels_after([](auto& labels) {
              for (std::size_t v = labels.size(); v-- > 0;) {
                const auto own = static_cast<apps::vertex>(v);
                if (labels[v] == own) continue;
                labels[v] = own;  // the last vertex that is not the smallest of its component
                return;
              }
            }),
            0);
}

// The components are right, but their names are not the smallest vertices.
TEST(LabelpropCheck, RefusesOtherNamesOfTheComponents) {
  EXPECT_GT(wrong_labels_after([](auto& labels) {
              std::vector<apps::vertex> last(labels.size());
              for (std::size_t v = 0; v < labels.size(); ++v) {
                last[static_cast<std::size_t>(labels[v])] = static_cast<apps::vertex>(v);
              }
              for (auto& label : labels) label = last[static_cast<std::size_t>(label)];
            }),
            0);
}

TEST(LabelpropCheck, CountsLabelsThatAreMissingOrTooMany) {
  EXPECT_EQ(wrong_labels_after([](auto& labels) { labels.pop_back(); }), 1);
  EXPECT_EQ(wrong_labels_after([](auto& labels) { labels.clear(); }), 60);
  EXPECT_EQ(wrong_labels_after([](auto& labels) { labels.push_back(0); }), 1);
}

}  // namespace

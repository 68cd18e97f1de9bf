// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "imsuite/check.hpp"
#include "imsuite_cases.hpp"

// Each checker accepts what its kernel finds and refuses what is wrong in any one way.
namespace {

using imsuite::input;
using imsuite::kernel;
using imsuite::solution;
using imsuite_test::make_input;

std::string refused(const kernel& k, const input& in, const solution& s) {
  return k.check(in, s).value_or("accepted");
}

// A kernel, an input and a right solution to spoil.
struct spoiled {
  spoiled(const kernel& of, input with)
      : k(of), in(std::move(with)), right(imsuite_test::solve(k, in).found), s(right) {
    EXPECT_EQ(refused(k, in, right), "accepted") << k.name;
  }
  explicit spoiled(const kernel& of) : spoiled(of, make_input(of, 40)) {}

  // Returns what the checker says about `s`, and makes `s` right again.
  std::string check_and_restore() {
    const std::string said = refused(k, in, s);
    s = right;
    return said;
  }

  const kernel& k;
  input in;
  solution right;
  solution s;
};

int other_than(int node) { return node == 0 ? 1 : 0; }

TEST(imsuite_check, every_node_has_an_answer) {
  for (const kernel* k : imsuite::kernels()) {
    spoiled t(*k);
    t.s.of_node.push_back(0);
    EXPECT_EQ(t.check_and_restore(), "there are answers of 41 nodes, not of 40") << k->name;
  }
}

TEST(imsuite_check, all_nodes_know_the_leader) {
  for (const kernel* k :
       {&imsuite::leader_elect_lcr, &imsuite::leader_elect_hs, &imsuite::leader_elect_dp}) {
    spoiled t(*k);
    t.s.of_node[7] = 39;
    EXPECT_EQ(t.check_and_restore(), "node 7 takes 39 for the leader, not 40") << k->name;
  }
}

TEST(imsuite_check, committees) {
  // On a chain, where committees are small and far from each other.
  const auto& sections = imsuite::kcommittee.sections;
  spoiled t(imsuite::kcommittee, generate_input(sections, imsuite::shape::chain, 40, 3));
  for (int& committee : t.s.of_node) committee = t.right.of_node[0];
  EXPECT_NE(t.check_and_restore().find("is too large"), std::string::npos);
  t.s.of_node[3] = 1000;
  EXPECT_EQ(t.check_and_restore(), "the committee of id 1000 has a head that is no node");
  for (int node = 0; node < 40; ++node) t.s.of_node[node] = t.in.ids[node];
  EXPECT_EQ(t.check_and_restore(), "the smallest id has no committee");

  // Each alone, but for one.
  for (int node = 0; node < 40; ++node) t.s.of_node[node] = t.in.ids[node];
  t.s.of_node[0] = t.in.ids[39];
  EXPECT_NE(t.check_and_restore().find("node 0 is too far"), std::string::npos);
  t.s.of_node[0] = t.in.ids[1];
  t.s.of_node[1] = t.in.ids[2];
  EXPECT_NE(t.check_and_restore().find("is without its head"), std::string::npos);
}

TEST(imsuite_check, loyal_nodes_agree) {
  spoiled t(imsuite::byzantine);
  int loyal = 5;
  while (std::ranges::find(t.in.traitors, loyal) != t.in.traitors.end()) ++loyal;
  const std::string name = "node " + std::to_string(loyal);
  t.s.of_node[loyal] = 1 - t.s.of_node[loyal];
  EXPECT_EQ(t.check_and_restore(), name + " decided otherwise");
  t.s.of_node[loyal] = -1;
  EXPECT_EQ(t.check_and_restore(), name + " is undecided");
  t.s.of_node[t.in.traitors.front()] = -1;
  EXPECT_EQ(t.check_and_restore(), "accepted");

  for (int& vote : t.in.votes) vote = 1;
  for (int& decision : t.s.of_node) decision = 0;
  EXPECT_EQ(t.check_and_restore(), "the decision is one that no loyal node voted for");
}

TEST(imsuite_check, distances) {
  spoiled t(imsuite::bfs_bellman_ford);
  ++t.s.of_node[t.in.root];
  EXPECT_EQ(t.check_and_restore(),
            "node " + std::to_string(t.in.root) + " is at distance 0, not 1");
}

TEST(imsuite_check, layers) {
  spoiled t(imsuite::bfs_dijkstra,
            generate_input(imsuite::bfs_dijkstra.sections, imsuite::shape::sparse, 40, 5));
  const int root = t.in.root;
  const int node = other_than(root);
  const int parent = t.right.of_node[node];
  t.s.of_node[root] = node;
  EXPECT_EQ(t.check_and_restore(), "the root has a parent");
  t.s.of_node[node] = node;
  EXPECT_NE(t.check_and_restore().find("is not a neighbour"), std::string::npos);
  t.s.children[node].push_back(root);
  EXPECT_NE(t.check_and_restore().find("has a child whose parent it is not"), std::string::npos);
  t.s.children[parent].push_back(node);
  EXPECT_NE(t.check_and_restore().find("is 2 times a child"), std::string::npos);
  std::erase(t.s.children[parent], node);
  EXPECT_NE(t.check_and_restore().find("is 0 times a child"), std::string::npos);

  // A node moves to a neighbour in its own layer.
  const auto layer = imsuite::distances(t.in.links, root);
  for (int child = 0; child < 40; ++child) {
    for (const int beside : t.in.links.neighbours(child)) {
      if (layer[beside] != layer[child]) continue;
      std::erase(t.s.children[t.s.of_node[child]], child);
      t.s.of_node[child] = beside;
      t.s.children[beside].push_back(child);
      EXPECT_NE(t.check_and_restore().find("is not one layer up"), std::string::npos);
      return;
    }
  }
  FAIL() << "no edge within a layer";
}

TEST(imsuite_check, sets) {
  for (const kernel* k : {&imsuite::mis, &imsuite::dominating_set}) {
    spoiled t(*k);
    for (int& chosen : t.s.of_node) chosen = 0;
    EXPECT_EQ(t.check_and_restore(), "node 0 is not chosen and neither is any neighbour")
        << k->name;
    t.s.of_node[3] = 2;
    EXPECT_EQ(t.check_and_restore(), "node 3 is undecided") << k->name;
    for (int& chosen : t.s.of_node) chosen = 1;
    EXPECT_EQ(t.check_and_restore() == "accepted", k == &imsuite::dominating_set);
  }
}

TEST(imsuite_check, spanning_tree) {
  // A triangle of edges that weigh 1, 2 and 3.
  input in;
  in.nodes = 3;
  in.links.append_row(std::vector{1, 2});
  in.links.append_row(std::vector{0, 2});
  in.links.append_row(std::vector{0, 1});
  in.weights = {1, 3, 1, 2, 3, 2};
  spoiled t(imsuite::mst, in);
  t.s.of_node.begin()[0] = 0;
  t.s.of_node.begin()[1] = 0;
  t.s.of_node.begin()[2] = 0;
  t.s.children[0] = {1, 2};
  t.s.children[1] = t.s.children[2] = {};
  EXPECT_EQ(t.check_and_restore(), "the tree weighs 4, a minimum one 3");
  t.s.of_node[0] = 1;
  t.s.of_node[1] = 2;
  t.s.of_node[2] = 0;
  EXPECT_EQ(t.check_and_restore(), "the tree has no root");
  // A root alone, and two that are each other's children.
  t.s.of_node[0] = 0;
  t.s.of_node[1] = 2;
  t.s.of_node[2] = 1;
  t.s.children[0] = {};
  t.s.children[1] = {2};
  t.s.children[2] = {1};
  EXPECT_EQ(t.check_and_restore(), "only 1 nodes hang below the root");
}

TEST(imsuite_check, colours) {
  spoiled t(imsuite::vertex_coloring);
  const int node = other_than(t.in.root);
  t.s.of_node[node] = 3;
  EXPECT_EQ(t.check_and_restore(), "node " + std::to_string(node) + " has a fourth colour");
  t.s.of_node[node] = -1;
  EXPECT_NE(t.check_and_restore().find("has a fourth colour"), std::string::npos);
  t.s.of_node[node] = t.s.of_node[t.in.parents[node]];
  EXPECT_NE(t.check_and_restore().find("has the colour of its parent"), std::string::npos);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pbbs/check.hpp"

// The checks of apps/pbbs accept the right results and refuse those that are wrong in any one way.
namespace {

using pbbs::membership;
using pbbs::vertex;
using pbbs::word;

// A path 0 - 1 - 2 - 3 - 4, a triangle 5 - 6 - 7, and a vertex 8 without neighbours.
const pbbs::graph& small_graph() {
  static const pbbs::graph g(9, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {5, 6}, {6, 7}, {7, 5}});
  return g;
}

template <class T>
std::vector<T> changed(std::vector<T> all, std::initializer_list<std::pair<std::size_t, T>> to) {
  for (const auto& [i, value] : to) all[i] = value;
  return all;
}

TEST(pbbs_check, sums) {
  const std::vector<word> values = {3, 0, 5, 1};
  const std::vector<word> right = {0, 3, 3, 8};
  EXPECT_TRUE(pbbs::are_sums_before(values, right, 9));
  EXPECT_TRUE(pbbs::are_sums_before({}, {}, 0));
  EXPECT_FALSE(pbbs::are_sums_before(values, right, 8)) << "the sum of all is wrong";
  EXPECT_FALSE(pbbs::are_sums_before({}, {}, 1)) << "the sum of nothing is wrong";
  EXPECT_FALSE(pbbs::are_sums_before(values, std::vector<word>{3, 3, 8, 9}, 9)) << "inclusive";
  EXPECT_FALSE(pbbs::are_sums_before(values, std::vector<word>{0, 3, 3}, 9)) << "too few";
  EXPECT_FALSE(pbbs::are_sums_before(values, std::vector<word>{0, 3, 3, 8, 9}, 9)) << "too many";
  for (std::size_t i = 0; i < right.size(); ++i) {
    EXPECT_FALSE(pbbs::are_sums_before(values, changed<word>(right, {{i, right[i] + 1}}), 9)) << i;
  }
}

TEST(pbbs_check, selected_values) {
  const std::vector<word> values = {4, 7, 7, 2, 9};
  const auto odd = [&values](std::size_t i) { return values[i] % 2 == 1; };
  const auto accepted = [&](const std::vector<word>& selected) {
    return pbbs::are_selected(values, selected, odd);
  };
  EXPECT_TRUE(accepted({7, 7, 9}));
  EXPECT_FALSE(accepted({})) << "nothing";
  EXPECT_FALSE(accepted({7, 7})) << "the last one is missing";
  EXPECT_FALSE(accepted({7, 9})) << "one of two equal ones is missing";
  EXPECT_FALSE(accepted({7, 7, 9, 9})) << "one twice";
  EXPECT_FALSE(accepted({7, 9, 7})) << "another order";
  EXPECT_FALSE(accepted({4, 7, 7, 9})) << "one that was not wanted";
  EXPECT_FALSE(accepted({7, 7, 11})) << "a value that does not exist";
}

TEST(pbbs_check, sorted_records) {
  const std::vector<word> keys = {5, 2, 5, 1};
  const std::vector<pbbs::record> right = {{1, 3}, {2, 1}, {5, 0}, {5, 2}};
  const auto accepted = [&keys](const std::vector<pbbs::record>& records) {
    return pbbs::are_stably_sorted(keys, records);
  };
  EXPECT_TRUE(accepted(right));
  EXPECT_FALSE(accepted({{5, 0}, {2, 1}, {5, 2}, {1, 3}})) << "not sorted";
  EXPECT_FALSE(accepted({{5, 0}, {5, 2}, {2, 1}, {1, 3}})) << "descending";
  EXPECT_FALSE(accepted({{1, 3}, {2, 1}, {5, 2}, {5, 0}})) << "not stable";
  EXPECT_FALSE(accepted({{1, 3}, {2, 1}, {5, 0}, {5, 0}})) << "no permutation: one twice";
  EXPECT_FALSE(accepted({{1, 3}, {2, 1}, {5, 0}})) << "one is missing";
  EXPECT_FALSE(accepted({{1, 3}, {2, 1}, {5, 0}, {5, 2}, {5, 3}})) << "too many";
  EXPECT_FALSE(accepted({{1, 3}, {2, 1}, {3, 0}, {5, 2}})) << "a key was changed";
  EXPECT_FALSE(accepted({{1, 3}, {2, 1}, {5, 0}, {5, 4}})) << "a position that does not exist";
}

TEST(pbbs_check, independent_set) {
  constexpr auto in = membership::in;
  constexpr auto out = membership::out;
  const std::vector<membership> right = {in, out, in, out, in, out, in, out, in};
  const auto accepted = [](const std::vector<membership>& of) {
    return pbbs::is_maximal_independent_set(small_graph(), of);
  };
  EXPECT_TRUE(accepted(right));
  EXPECT_TRUE(accepted({out, in, out, in, out, in, out, out, in})) << "another one";
  EXPECT_FALSE(accepted(changed(right, {{5, in}}))) << "not independent";
  EXPECT_FALSE(accepted(changed(right, {{1, in}}))) << "not independent";
  EXPECT_FALSE(accepted(changed(right, {{4, out}}))) << "not maximal";
  EXPECT_FALSE(accepted(changed(right, {{8, out}}))) << "not maximal: a vertex without neighbours";
  EXPECT_FALSE(accepted(std::vector(9, out))) << "empty";
  EXPECT_FALSE(accepted(std::vector(9, in))) << "everything";
  EXPECT_FALSE(accepted(changed(right, {{3, membership::open}}))) << "not decided";
  EXPECT_FALSE(accepted({in, out, in})) << "not all vertices";
}

TEST(pbbs_check, matching) {
  constexpr vertex none = pbbs::nobody;
  const std::vector<vertex> right = {1, 0, 3, 2, none, 6, 5, none, none};
  const auto accepted = [](const std::vector<vertex>& mates) {
    return pbbs::is_maximal_matching(small_graph(), mates);
  };
  EXPECT_TRUE(accepted(right));
  EXPECT_TRUE(accepted({none, 2, 1, 4, 3, 7, none, 5, none})) << "another one";
  EXPECT_FALSE(accepted(std::vector(9, none))) << "empty";
  EXPECT_FALSE(accepted(changed(right, {{5, none}, {6, none}}))) << "not maximal";
  EXPECT_FALSE(accepted(changed(right, {{4, vertex{3}}}))) << "two vertices with the same mate";
  EXPECT_FALSE(accepted(changed(right, {{3, none}}))) << "a mate that has none";
  EXPECT_FALSE(accepted(changed(right, {{1, vertex{2}}, {2, vertex{1}}}))) << "broken pairs";
  EXPECT_FALSE(accepted(changed(right, {{4, vertex{8}}, {8, vertex{4}}}))) << "no edge";
  EXPECT_FALSE(accepted(changed(right, {{8, vertex{8}}}))) << "its own mate";
  EXPECT_FALSE(accepted(changed(right, {{7, vertex{6}}, {6, vertex{5}}, {5, vertex{7}}})))
      << "a cycle of mates";
  EXPECT_FALSE(accepted(changed(right, {{8, vertex{100}}}))) << "a vertex that does not exist";
  EXPECT_FALSE(accepted({1, 0})) << "not all vertices";
}

TEST(pbbs_check, colouring) {
  const std::vector<pbbs::colour> right = {1, 2, 1, 2, 1, 3, 1, 2, 1};
  const auto accepted = [](const std::vector<pbbs::colour>& colours) {
    return pbbs::is_greedy_colouring(small_graph(), colours);
  };
  EXPECT_TRUE(accepted(right));
  EXPECT_TRUE(accepted({1, 2, 3, 1, 2, 1, 2, 3, 1})) << "another order";
  EXPECT_FALSE(accepted(changed(right, {{1, 1U}}))) << "neighbours with the same colour";
  EXPECT_FALSE(accepted(changed(right, {{5, 2U}}))) << "neighbours with the same colour";
  EXPECT_FALSE(accepted(changed(right, {{3, 0U}}))) << "no colour";
  EXPECT_FALSE(accepted(changed(right, {{8, 2U}}))) << "beyond the degree + 1";
  EXPECT_FALSE(accepted(changed(right, {{2, 3U}}))) << "not the least colour";
  EXPECT_FALSE(accepted({1, 2})) << "not all vertices";
}

TEST(pbbs_check, distances) {
  constexpr pbbs::distance never = pbbs::unreached;
  const std::vector<pbbs::distance> right = {0, 1, 2, 3, 4, never, never, never, never};
  const auto accepted = [](const std::vector<pbbs::distance>& distances, vertex source = 0) {
    return pbbs::are_distances(small_graph(), source, distances);
  };
  EXPECT_TRUE(accepted(right));
  EXPECT_TRUE(accepted({2, 1, 0, 1, 2, never, never, never, never}, 2));
  EXPECT_FALSE(accepted(right, 1)) << "another source";
  EXPECT_FALSE(accepted(changed(right, {{0, 1U}}))) << "the source is not at 0";
  EXPECT_FALSE(accepted(changed(right, {{2, 0U}}))) << "a second source";
  EXPECT_FALSE(accepted(changed(right, {{4, 5U}}))) << "too far";
  EXPECT_FALSE(accepted(changed(right, {{4, 3U}}))) << "no neighbour is nearer";
  EXPECT_FALSE(accepted(changed(right, {{4, never}}))) << "not reached, beside one that was";
  EXPECT_FALSE(accepted(changed(right, {{5, 1U}, {6, 1U}, {7, 1U}})))
      << "a cycle that the source cannot reach";
  EXPECT_FALSE(accepted(changed(right, {{5, 0U}, {6, 1U}, {7, 1U}}))) << "a source of its own";
  EXPECT_FALSE(accepted(changed(right, {{8, 1U}}))) << "a vertex without neighbours";
  EXPECT_FALSE(accepted(std::vector(9, never))) << "nothing was reached";
  EXPECT_FALSE(accepted({0, 1})) << "not all vertices";
}

}  // namespace

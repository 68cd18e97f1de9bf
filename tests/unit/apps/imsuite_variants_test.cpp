// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "imsuite_cases.hpp"

// A kernel is the same algorithm however its nodes keep in step, and right for every input.
namespace {

using imsuite::kernel;
using imsuite::outcome;
using imsuite::shape;
using imsuite::variant;
using imsuite_test::solve;

class imsuite_variants : public testing::TestWithParam<const kernel*> {};

TEST_P(imsuite_variants, go_through_the_same_rounds) {
  const kernel& k = *GetParam();
  const imsuite::input in = imsuite_test::make_input(k, 20, 7);
  const outcome by_clocks = solve(k, in, variant::clocks);
  for (const variant v : {variant::finish, variant::baseline}) {
    const outcome other = solve(k, in, v);
    EXPECT_EQ(other.rounds, by_clocks.rounds);
    EXPECT_EQ(other.phases, by_clocks.phases);
    EXPECT_EQ(k.check(in, other.found).value_or("right"), "right");
    // Of the nodes that ask at once, either may become the parent.
    if (&k != &imsuite::bfs_dijkstra) {
      EXPECT_EQ(other.found.of_node, by_clocks.found.of_node);
    }
  }
}

TEST_P(imsuite_variants, solve_networks_of_any_size_and_shape) {
  const kernel& k = *GetParam();
  for (const shape s : {shape::sparse, shape::tree, shape::chain}) {
    if (s == shape::sparse && &k == &imsuite::vertex_coloring) continue;
    for (const int nodes : {1, 2, 3, 4, 5, 8, 9, 31, 64, 100}) {
      const auto in = generate_input(k.sections, s, nodes, static_cast<std::uint64_t>(nodes));
      for (const variant v : {variant::clocks, variant::finish}) {
        const outcome result = solve(k, in, v);
        EXPECT_EQ(k.check(in, result.found).value_or("right"), "right") << nodes << " nodes";
        EXPECT_GE(result.phases, result.rounds);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, imsuite_variants,
                         testing::ValuesIn(imsuite::kernels().begin(), imsuite::kernels().end()),
                         [](const auto& info) { return std::string(info.param->short_name); });

// Round and phase counts that follow from the algorithms.
TEST(imsuite_rounds, are_those_of_the_suite) {
  const auto counts = [](const kernel& k, int nodes) {
    const outcome o = solve(k, imsuite_test::make_input(k, nodes));
    return std::pair(o.rounds, o.phases);
  };
  EXPECT_EQ(counts(imsuite::leader_elect_lcr, 64), std::pair(64L, 64L * 64));
  EXPECT_EQ(counts(imsuite::leader_elect_hs, 64), std::pair(126L, 126L * 64 * 2));
  EXPECT_EQ(counts(imsuite::kcommittee, 64), std::pair(12L, 64L * 3 * 2 * 3));
}

}  // namespace

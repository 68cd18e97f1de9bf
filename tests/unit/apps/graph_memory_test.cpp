// SPDX-License-Identifier: Apache-2.0

// Which graphs the programs on Kronecker graphs refuse because they do not fit into memory.

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "bfs/graph_options.hpp"
#include "sssp/options.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/memory.hpp"
#include "triangles/whole_graph.hpp"

namespace {

TEST(GraphMemory, TheHostOfPlace0NeedsMemoryForTheCheckAndItsPortions) {
  const sssp::options o;
  const auto bytes = [&o](int places, int on_host) {
    return o.bytes_of_an_edge({places, on_host}, apps::copies_in_exchange(places));
  };
  EXPECT_EQ(bytes(1, 1), 80);
  EXPECT_LT(bytes(4, 1), bytes(1, 1));
  EXPECT_EQ(bytes(1000, 1), 64);  // the check, which is at one place
  EXPECT_EQ(bytes(4, 4), bytes(2, 2));
  EXPECT_GT(bytes(2, 2), bytes(1, 1));  // two places exchange the edges
}

TEST(GraphMemory, AVariantAtOnePlaceExchangesNothing) {
  sssp::options o;
  o.variant = "serial";
  EXPECT_EQ(o.bytes_of_an_edge({1, 1}, 1), 64);
  EXPECT_EQ(o.bytes_of_an_edge({2, 2}, 3), 64);
}

TEST(GraphMemory, EachPlaceThatChecksNeedsAllEdges) {
  EXPECT_EQ(bfs::bytes_of_an_edge({1, 1}, 1, 1), 48);
  EXPECT_EQ(bfs::bytes_of_an_edge({2, 2}, 3, 1), 96);   // the exchange
  EXPECT_EQ(bfs::bytes_of_an_edge({8, 8}, 3, 8), 144);  // the check of eight ranks
  EXPECT_EQ(bfs::bytes_of_an_edge({8, 1}, 3, 1), 18);
}

// The memory is between what one place needs and what the two places of a host need.
TEST(GraphMemory, AGraphThatFitsOnePlaceButNotTheTwoOfAHostIsRefused) {
  const apps::command_line line("triangles", "");
  bfs::graph_options graph;
  graph.scale = 22;
  const auto refused = [&](const apps::placement& p) {
    const double bytes = triangles::bytes_of_an_edge(p, apps::copies_in_exchange(p.places));
    return graph.refused(line, bytes, 6.0 * (1 << 30));
  };
  EXPECT_EQ(refused({1, 1}), std::nullopt);
  EXPECT_EQ(refused({2, 1}), std::nullopt);  // the other place is on another host
  testing::internal::CaptureStderr();
  EXPECT_EQ(refused({2, 2}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "triangles: --scale and --edge-factor: needs about 8 GiB of memory, and this machine "
            "has 6 GiB; choose a smaller graph (see triangles --help)\n");
}

TEST(GraphMemory, AGraphThatNoMachineCanHoldIsRefused) {
  const apps::command_line line("sssp", "");
  const bfs::graph_options graph;
  EXPECT_EQ(graph.refused(line, 64), std::nullopt);
  testing::internal::CaptureStderr();
  EXPECT_EQ(graph.refused(line, 1e12), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("sssp: --scale and --edge-factor: needs about 244140625 GiB"))
      << said;
}

}  // namespace

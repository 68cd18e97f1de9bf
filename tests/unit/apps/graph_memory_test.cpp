// SPDX-License-Identifier: Apache-2.0

// Which graphs the programs on Kronecker graphs refuse because they do not fit into memory.

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "bfs/graph_options.hpp"
#include "sssp/options.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"

namespace {

TEST(GraphMemory, APlaceNeedsMemoryForTheCheckAndItsPortion) {
  const sssp::options o;
  const auto bytes = [&o](int places) {
    return o.bytes_of_an_edge(places, apps::copies_in_exchange(places));
  };
  EXPECT_EQ(bytes(1), 80);
  EXPECT_LT(bytes(4), bytes(1));
  EXPECT_EQ(bytes(1000), 64);  // the check, which is at one place
}

TEST(GraphMemory, AVariantAtOnePlaceExchangesNothing) {
  sssp::options o;
  o.variant = "serial";
  EXPECT_EQ(o.bytes_of_an_edge(1, 1), 64);
  EXPECT_EQ(o.bytes_of_an_edge(2, 3), 64);
}

TEST(GraphMemory, AGraphThatDoesNotFitIsRefusedInOneLine) {
  const apps::command_line line("sssp", "");
  const bfs::graph_options graph;
  EXPECT_EQ(graph.refused(line, 64), std::nullopt);
  testing::internal::CaptureStderr();
  EXPECT_EQ(graph.refused(line, 1e12), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("sssp: --scale and --edge-factor: needs about 244140625 GiB"))
      << said;
  EXPECT_TRUE(said.ends_with("; choose a smaller graph (see sssp --help)\n")) << said;
}

}  // namespace

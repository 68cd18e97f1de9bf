// SPDX-License-Identifier: Apache-2.0

// The sizes of the segments through which places of a host send, as docs/clusters.md gives them.

#include <bit>
#include <cstddef>

#include <gtest/gtest.h>

#include "host_segment.hpp"

namespace {

using namespace apgas::comm;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

TEST(SegmentSize, IsBelow64MiBForEachPlaceUpTo1000Places) {
  for (std::size_t places = 1; places <= 1000; ++places) {
    ASSERT_LT(segment_bytes(places), 64 * mib) << places << " places";
  }
}

TEST(SegmentSize, FollowsTheFormulaOfTheDocumentation) {
  for (std::size_t places = 1; places <= 1000; ++places) {
    const std::size_t ring = ring_capacity(places);
    if (places <= 64) {
      ASSERT_EQ(ring, 256 * kib) << places << " places";
    } else {
      ASSERT_GE(ring, 32 * kib) << places << " places";
      ASSERT_TRUE(ring == 32 * kib || ring == std::bit_floor(16 * mib / places)) << places;
    }
    const std::size_t least = 4 * mib + places * (ring + 16 * kib + 256);
    ASSERT_GE(segment_bytes(places), least) << places << " places";
    ASSERT_LE(segment_bytes(places), least + 8 * kib) << places << " places";
  }
}

TEST(SegmentSize, IsWhatTheTableOfTheDocumentationSays) {
  const auto in_mib = [](std::size_t places) {
    return static_cast<double>(segment_bytes(places)) / static_cast<double>(mib);
  };
  EXPECT_NEAR(in_mib(2), 4.5, 0.05);
  EXPECT_NEAR(in_mib(8), 6.1, 0.05);
  EXPECT_NEAR(in_mib(64), 21, 0.5);
  EXPECT_NEAR(in_mib(128), 22, 0.5);
  EXPECT_NEAR(in_mib(512), 28, 0.5);
  EXPECT_NEAR(in_mib(1000), 51, 0.5);
}

}  // namespace

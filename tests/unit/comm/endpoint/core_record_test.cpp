// SPDX-License-Identifier: Apache-2.0

// Converts the cores of a place to a record and back.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "core_record.hpp"

namespace {

using namespace apgas::comm;
using apgas::base::place_cores;

place_cores with_mask(std::vector<int> processors) {
  return {.processors = std::move(processors),
          .limits = {},
          .workers = 0,
          .binds = true,
          .hardware = 0};
}

// Every `step`th number from first to last.
std::vector<int> every(int step, int first, int last) {
  std::vector<int> all;
  for (int i = first; i <= last; i += step) all.push_back(i);
  return all;
}

place_cores there_and_back(const place_cores& cores) { return unpack_cores(pack_cores(cores)); }

void expect_exact(const std::vector<int>& mask) {
  EXPECT_EQ(there_and_back(with_mask(mask)).processors, mask);
}

TEST(CoreRecord, KeepsEverything) {
  const place_cores cores{.processors = {0, 1, 2, 3, 16},
                          .limits = {{0xfeed'0000'0000'0001, 500}, {7, 16000}},
                          .workers = 1024,
                          .binds = false,
                          .hardware = 0xcbf2'9ce4'8422'2325};
  EXPECT_EQ(there_and_back(cores), cores);
}

TEST(CoreRecord, MasksOfWholeHostsAndSockets) {
  expect_exact({0});
  expect_exact(every(1, 0, 1023));
  expect_exact(every(1, 0, 8191));
  std::vector<int> socket = every(1, 60, 119);
  for (const int sibling : every(1, 1980, 2039)) socket.push_back(sibling);
  expect_exact(socket);
}

TEST(CoreRecord, MasksOfManyRanges) {
  expect_exact(every(2, 0, 1023));
  expect_exact(every(2, 1, 1919));
  expect_exact(every(3, 3000, 3000 + 1917));
  expect_exact(every(100, 0, 5900));  // sixty ranges
}

TEST(CoreRecord, AnyMaskOfUpTo1920Processors) {
  apgas::base::random_engine random(20'260'816);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> mask;
    const auto density = 1 + random() % 9;
    for (int p = 0; p < 1920; ++p) {
      if (random() % 10 < density) mask.push_back(p);
    }
    expect_exact(mask);
  }
}

TEST(CoreRecord, ALargerMaskWithMoreRangesKeepsTheFirstSixty) {
  EXPECT_EQ(there_and_back(with_mask(every(2, 0, 4000))).processors, every(2, 0, 118));
}

TEST(CoreRecord, TheFourSmallestLimits) {
  place_cores cores = with_mask({0});
  for (std::uint32_t i = 1; i <= 6; ++i)
    cores.limits.push_back({.cgroup = i, .millicores = i * 1000});
  const auto limits = there_and_back(cores).limits;
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[3], (apgas::base::cpu_limit{.cgroup = 4, .millicores = 4000}));
}

TEST(CoreRecord, ALimitOfLessThanAThousandthStaysALimit) {
  place_cores cores = with_mask({0});
  cores.limits = {{9, 0}};
  EXPECT_EQ(there_and_back(cores).limits.at(0).millicores, 1U);
}

TEST(CoreRecord, NothingIsReadBeyondARecord) {
  core_record record;
  record.ranges = 65535;
  record.mask[119] = 0;
  record.mask[118] = 1;  // from 1 to 0: an empty range
  EXPECT_EQ(unpack_cores(record).processors, std::vector<int>(59, 0));
}

}  // namespace

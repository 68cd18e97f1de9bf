// SPDX-License-Identifier: Apache-2.0

// The lines that describe the cores of the places of a host.

#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core_lines.hpp"

namespace apgas::launch {
namespace {

using base::place_cores;
using scheduler::logical_processor;
using testing::ElementsAre;

std::vector<int> range(int first, int last) {
  std::vector<int> all(static_cast<std::size_t>(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

place_cores on(std::vector<int> mask, std::vector<base::cpu_limit> limits = {}) {
  return {.processors = std::move(mask),
          .limits = std::move(limits),
          .workers = 0,
          .binds = true,
          .hardware = 0};
}

std::vector<logical_processor> without_smt(int cores) {
  std::vector<logical_processor> all;
  for (int i = 0; i < cores; ++i) all.push_back({.number = i, .core = i});
  return all;
}

// Describes places of one host, whose ranks start at `first`.
std::vector<std::string> lines(const std::vector<place_cores>& places,
                               const std::vector<logical_processor>& hardware = without_smt(256),
                               int first = 0) {
  host_places all{.host = "node1", .places = {}, .cores = {}, .shares = {}};
  for (const place_cores& each : places) {
    all.places.push_back(first++);
    all.cores.push_back(&each);
  }
  all.shares = scheduler::divide_cores(hardware, all.cores);
  return core_lines(all, hardware);
}

TEST(CoreLines, APlaceForEachSocket) {
  EXPECT_THAT(lines({on(range(0, 7)), on(range(8, 15))}),
              ElementsAre("place 0 on node1: cores 0-7, 8 workers, shared with no other place",
                          "place 1 on node1: cores 8-15, 8 workers, shared with no other place"));
  EXPECT_THAT(lines({on({3})}, without_smt(4), 5),
              ElementsAre("place 5 on node1: core 3, 1 worker, shared with no other place"));
}

TEST(CoreLines, PlacesThatDivideTheirCores) {
  EXPECT_THAT(
      lines(std::vector(3, on(range(0, 5)))),
      ElementsAre("place 0 on node1: cores 0-5, 2 workers on 0-1, shared with places 1 and 2",
                  "place 1 on node1: cores 0-5, 2 workers on 2-3, shared with places 0 and 2",
                  "place 2 on node1: cores 0-5, 2 workers on 4-5, shared with places 0 and 1"));
  EXPECT_THAT(lines(std::vector(4, on(range(0, 7))))[1],
              "place 1 on node1: cores 0-7, 2 workers on 2-3, shared with places 0,2-3");
}

TEST(CoreLines, MorePlacesThanCores) {
  EXPECT_THAT(lines(std::vector(3, on({0, 1})))[1],
              "place 1 on node1: cores 0-1, 1 worker, shared with places 0 and 2; there are more "
              "workers than cores");
}

TEST(CoreLines, CpuLimits) {
  EXPECT_THAT(lines({on(range(0, 7), {{1, 2500}})}),
              ElementsAre("place 0 on node1: cores 0-7, 2 workers, shared with no other place; CPU "
                          "limit of 2.5 cores, shared with no other place"));
  EXPECT_THAT(lines({on(range(0, 7), {{1, 4000}}), on(range(0, 7), {{1, 4000}})})[0],
              "place 0 on node1: cores 0-7, 2 workers, shared with place 1; CPU limit of 4 cores, "
              "shared with place 1");
  EXPECT_THAT(lines({on({0, 1}, {{1, 8000}})}),
              ElementsAre("place 0 on node1: cores 0-1, 2 workers, shared with no other place"));
}

TEST(CoreLines, HardwareThreads) {
  const std::vector<logical_processor> smt = {{0, 0}, {2, 0}, {1, 1}, {3, 1}};
  EXPECT_THAT(lines({on({0}), on({2}), on({1, 3})}, smt),
              ElementsAre("place 0 on node1: hardware thread 0, 1 worker, shared with no other "
                          "place; place 1 has other hardware threads of the same cores",
                          "place 1 on node1: hardware thread 2, 1 worker, shared with no other "
                          "place; place 0 has other hardware threads of the same cores",
                          "place 2 on node1: hardware threads 1,3, 2 workers, shared with no other "
                          "place"));
}

TEST(CoreLines, ManyPlacesThatAreAlikeShareALine) {
  std::vector<place_cores> places;
  for (int i = 0; i < 128; ++i) places.push_back(on({i}));
  EXPECT_THAT(lines(places),
              ElementsAre("places 0-127 on node1: 1 core each of 0-127, 1 worker each, shared with "
                          "no other place"));
  EXPECT_THAT(lines(std::vector(64, on(range(0, 127)))),
              ElementsAre("places 0-63 on node1: cores 0-127, 2 workers each, shared among them"));
  EXPECT_THAT(lines(std::vector(9, on(range(0, 9)))),
              ElementsAre("place 0 on node1: cores 0-9, 2 workers on 0-1, shared with places 1-8",
                          "places 1-8 on node1: cores 0-9, 1 worker each, shared among them and "
                          "with place 0"));
}

TEST(CoreLines, ThereAreAtMostEightLines) {
  std::vector<place_cores> places;
  for (int i = 0; i < 20; ++i) places.push_back(on(range(100 * i, 101 * i)));  // no two are alike
  const std::vector<std::string> all = lines(places, {});
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[0], "place 0 on node1: core 0, 1 worker, shared with no other place");
  EXPECT_EQ(all[7], "13 more places on node1");
  places.resize(9);
  places[8] = on({5000});  // like place 0
  EXPECT_EQ(lines(places, {}).size(), 8U);
}

}  // namespace
}  // namespace apgas::launch

// SPDX-License-Identifier: Apache-2.0

// The division of the cores of a host, on topologies that hwloc simulates.

#include <apgas/scheduler/core_partition.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwloc.h>

#include <apgas/base/random.hpp>

#include "topology.hpp"

namespace {

using namespace apgas;
using apgas::base::place_cores;
using apgas::scheduler::core_share;
using apgas::scheduler::logical_processor;
using testing::ElementsAre;
using testing::IsEmpty;

using numbers = std::vector<int>;

std::vector<logical_processor> hardware(const char* synthetic) {
  hwloc_topology_t made = nullptr;
  EXPECT_EQ(hwloc_topology_init(&made), 0);
  EXPECT_EQ(hwloc_topology_set_synthetic(made, synthetic), 0) << synthetic;
  EXPECT_EQ(hwloc_topology_load(made), 0);
  std::vector<logical_processor> processors = scheduler::processors_in(made);
  hwloc_topology_destroy(made);
  return processors;
}

// The numbers from first to last.
numbers range(int first, int last) {
  numbers all(static_cast<std::size_t>(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

place_cores on(numbers mask, std::vector<base::cpu_limit> limits = {}) {
  return {.processors = std::move(mask),
          .limits = std::move(limits),
          .workers = 0,
          .binds = true,
          .hardware = 0};
}

place_cores with_workers(int workers, place_cores cores) {
  cores.workers = workers;
  return cores;
}

std::vector<core_share> divide(const std::vector<logical_processor>& host,
                               const std::vector<place_cores>& places) {
  std::vector<const place_cores*> pointers;
  pointers.reserve(places.size());
  for (const place_cores& each : places) pointers.push_back(&each);
  return scheduler::divide_cores(host, pointers);
}

// The share of a place that has these processors for itself, and a worker on each.
void expect_own(const core_share& share, const numbers& processors) {
  EXPECT_EQ(share.processors, processors);
  EXPECT_EQ(share.workers, static_cast<int>(processors.size()));
  EXPECT_THAT(share.bound_to, testing::UnorderedElementsAreArray(processors));
  EXPECT_FALSE(share.oversubscribed);
}

void expect_crowded(const core_share& share, int workers) {
  EXPECT_EQ(share.workers, workers);
  EXPECT_THAT(share.bound_to, IsEmpty());
  EXPECT_TRUE(share.oversubscribed);
}

const char* const two_sockets = "pack:2 core:8 pu:1";
// Numbered as in Linux: the second hardware threads of all cores come after the first ones.
const char* const four_cores_smt = "core:4 pu:2(indexes=0,4,1,5,2,6,3,7)";

TEST(CorePartition, APlaceForEachSocket) {
  const auto shares = divide(hardware(two_sockets), {on(range(0, 7)), on(range(8, 15))});
  expect_own(shares[0], range(0, 7));
  expect_own(shares[1], range(8, 15));
}

TEST(CorePartition, TwoPlacesForEachSocketInTurn) {
  const auto shares = divide(hardware(two_sockets), {on(range(0, 7)), on(range(8, 15)),
                                                     on(range(0, 7)), on(range(8, 15))});
  expect_own(shares[0], range(0, 3));
  expect_own(shares[1], range(8, 11));
  expect_own(shares[2], range(4, 7));
  expect_own(shares[3], range(12, 15));
}

TEST(CorePartition, APlaceForEachNumaDomain) {
  std::vector<place_cores> places;
  for (int i = 0; i < 4; ++i) places.push_back(on(range(4 * i, 4 * i + 3)));
  const auto shares = divide(hardware("pack:2 numa:2 core:4 pu:1"), places);
  for (int i = 0; i < 4; ++i)
    expect_own(shares[static_cast<std::size_t>(i)], places[static_cast<std::size_t>(i)].processors);
}

TEST(CorePartition, FourUnboundPlaces) {
  const auto shares = divide(hardware(two_sockets), std::vector(4, on(range(0, 15))));
  for (int i = 0; i < 4; ++i) {
    expect_own(shares[static_cast<std::size_t>(i)], range(4 * i, 4 * i + 3));
  }
}

TEST(CorePartition, NoCoreIsLeftOver) {
  const auto shares = divide(hardware(two_sockets), std::vector(3, on(range(0, 15))));
  expect_own(shares[0], range(0, 5));
  expect_own(shares[1], range(6, 10));
  expect_own(shares[2], range(11, 15));
}

TEST(CorePartition, APlaceAloneHasItsMask) {
  expect_own(divide(hardware(two_sockets), {on(range(0, 15))})[0], range(0, 15));
  expect_own(divide(hardware(two_sockets), {on({3, 9})})[0], {3, 9});
}

TEST(CorePartition, OverlappingMasks) {
  const auto shares = divide(hardware(two_sockets), {on(range(0, 7)), on(range(4, 11))});
  expect_own(shares[0], range(0, 5));
  expect_own(shares[1], range(6, 11));
}

TEST(CorePartition, ASmallMaskWithinALargeOne) {
  const auto shares = divide(hardware(two_sockets), {on(range(0, 15)), on({0, 1}), on({8})});
  expect_own(shares[0], {2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15});
  expect_own(shares[1], {0, 1});
  expect_own(shares[2], {8});
}

TEST(CorePartition, AProcessorIsMovedAlongAChain) {
  // If processors were only handed out in order, place 0 would get 0 and 1, and place 2 none.
  const auto shares = divide(hardware("core:3 pu:1"), {on({0, 1}), on({1, 2}), on({0})});
  expect_own(shares[0], {1});
  expect_own(shares[1], {2});
  expect_own(shares[2], {0});
}

TEST(CorePartition, HardwareThreadsOfOneCore) {
  const auto shares = divide(hardware(four_cores_smt), {on({0}), on({4})});
  expect_own(shares[0], {0});
  expect_own(shares[1], {4});
}

TEST(CorePartition, PlacesGetWholeCores) {
  const auto shares = divide(hardware(four_cores_smt), std::vector(2, on(range(0, 7))));
  expect_own(shares[0], {0, 4, 1, 5});
  expect_own(shares[1], {2, 6, 3, 7});
}

TEST(CorePartition, FewWorkersAreSpreadOverCores) {
  const auto shares =
      divide(hardware(four_cores_smt), std::vector(2, with_workers(2, on(range(0, 7)))));
  EXPECT_THAT(shares[0].bound_to, ElementsAre(0, 1));
  EXPECT_THAT(shares[1].bound_to, ElementsAre(2, 3));
  EXPECT_FALSE(shares[0].oversubscribed);
}

TEST(CorePartition, CpusetsWithGaps) {
  const numbers cpuset = {2, 3, 6, 7, 10, 11};
  const auto shares = divide(hardware(two_sockets), {on(cpuset), on(cpuset), on({12, 15})});
  expect_own(shares[0], {2, 3, 6});
  expect_own(shares[1], {7, 10, 11});
  expect_own(shares[2], {12, 15});
}

TEST(CorePartition, ProcessorsThatTheTopologyLacks) {
  const auto shares = divide(hardware("core:2 pu:1"), {on({0, 1, 100, 200}), on({300})});
  expect_own(shares[0], {0, 1, 100, 200});
  expect_own(shares[1], {300});
  expect_own(divide({}, {on({5, 7})})[0], {5, 7});
}

TEST(CorePartition, PlacesThatSeeDifferentHardwareDivideByNumbers) {
  std::vector<place_cores> places(2, on(range(0, 7)));
  places[1].hardware = 1;
  for (const auto& host : {hardware(four_cores_smt), hardware("core:8 pu:1")}) {
    const auto shares = divide(host, places);
    expect_own(shares[0], range(0, 3));
    expect_own(shares[1], range(4, 7));
  }
}

TEST(CorePartition, ALimitOfOnePlace) {
  const auto share = divide(hardware(two_sockets), {on(range(0, 15), {{7, 2500}})})[0];
  EXPECT_EQ(share.workers, 2);
  EXPECT_THAT(share.bound_to, IsEmpty());
  EXPECT_FALSE(share.oversubscribed);
  expect_own(divide(hardware(two_sockets), {on(range(0, 15), {{7, 16000}})})[0], range(0, 15));
  EXPECT_EQ(divide(hardware(two_sockets), {on(range(0, 15), {{7, 500}})})[0].workers, 1);
}

TEST(CorePartition, PlacesOfOneCgroupDivideItsLimit) {
  const auto shares = divide(hardware(two_sockets), std::vector(3, on(range(0, 15), {{7, 4000}})));
  EXPECT_EQ(shares[0].workers, 2);
  EXPECT_EQ(shares[1].workers, 1);
  EXPECT_EQ(shares[2].workers, 1);
  for (const core_share& each : shares) {
    EXPECT_THAT(each.bound_to, IsEmpty());
    EXPECT_FALSE(each.oversubscribed);
  }
}

TEST(CorePartition, PlacesOfTwoCgroupsHaveEachItsLimit) {
  const auto shares =
      divide(hardware(two_sockets), {on(range(0, 15), {{7, 2000}}), on(range(0, 15), {{8, 3000}})});
  EXPECT_EQ(shares[0].workers, 2);
  EXPECT_EQ(shares[1].workers, 3);
}

TEST(CorePartition, LimitsWithinALimit) {
  const auto shares = divide(hardware(two_sockets), {on(range(0, 15), {{7, 2000}, {9, 3000}}),
                                                     on(range(0, 15), {{8, 2000}, {9, 3000}})});
  EXPECT_EQ(shares[0].workers, 2);
  EXPECT_EQ(shares[1].workers, 1);
}

TEST(CorePartition, APlaceWithoutALimitTakesTheOthersCores) {
  const auto shares =
      divide(hardware(two_sockets), {on(range(0, 15), {{7, 2000}}), on(range(0, 15))});
  expect_own(shares[0], {0, 1});
  expect_own(shares[1], range(2, 15));
}

TEST(CorePartition, MorePlacesThanALimitHasCores) {
  const auto shares = divide(hardware(two_sockets), std::vector(2, on(range(0, 15), {{7, 1500}})));
  for (const core_share& each : shares) expect_crowded(each, 1);
}

TEST(CorePartition, MorePlacesThanCores) {
  for (const core_share& each : divide(hardware("core:2 pu:1"), std::vector(5, on({0, 1})))) {
    expect_crowded(each, 1);
  }
}

TEST(CorePartition, OnlyPlacesThatShareAreOversubscribed) {
  const auto shares = divide(hardware(two_sockets),
                             {on({0, 1}), on({0, 1}), on({0, 1}), on({2, 3}), on(range(8, 15))});
  for (int i = 0; i < 3; ++i) expect_crowded(shares[static_cast<std::size_t>(i)], 1);
  expect_own(shares[3], {2, 3});
  expect_own(shares[4], range(8, 15));
}

TEST(CorePartition, OversubscriptionSpreadsToPlacesWhoseProcessorsAreUsed) {
  // Place 0 also runs on 1. So place 1 is not bound, and also runs on 2, the processor of place 2.
  const auto shares =
      divide(hardware("core:4 pu:1"), {with_workers(3, on({0, 1})), on({1, 2}), on({2}), on({3})});
  expect_crowded(shares[0], 3);
  expect_crowded(shares[1], 1);
  expect_crowded(shares[2], 1);
  expect_own(shares[3], {3});
}

TEST(CorePartition, WorkersThatMayNotBeBound) {
  std::vector<place_cores> places(2, on({0, 1, 2, 3}));
  places[0].binds = false;
  const auto shares = divide(hardware("core:4 pu:1"), places);
  EXPECT_EQ(shares[0].workers, 2);
  EXPECT_THAT(shares[0].bound_to, IsEmpty());
  EXPECT_FALSE(shares[0].oversubscribed);
  expect_own(shares[1], {2, 3});
}

TEST(CorePartition, MoreWorkersThanCoresByRequest) {
  expect_crowded(divide(hardware("core:2 pu:1"), {with_workers(4, on({0, 1}))})[0], 4);
}

TEST(CorePartition, AskingForFewWorkersLeavesCoresToOthers) {
  const auto shares =
      divide(hardware(two_sockets), {with_workers(2, on(range(0, 15))), on(range(0, 15))});
  expect_own(shares[0], {0, 1});
  expect_own(shares[1], range(2, 15));
  const auto within =
      divide(hardware("core:4 pu:1"), {with_workers(1, on({0, 1})), on(range(0, 3))});
  expect_own(within[0], {0});
  expect_own(within[1], {1, 2, 3});
}

TEST(CorePartition, FewWorkersEverywhereStayApart) {
  const auto shares =
      divide(hardware(two_sockets), std::vector(2, with_workers(1, on(range(0, 15)))));
  EXPECT_THAT(shares[0].bound_to, ElementsAre(0));
  EXPECT_THAT(shares[1].bound_to, ElementsAre(8));
}

TEST(CorePartition, TwoJobsOnOneHost) {
  // Each job divides cores among its own places only, so both use the same cores unless their
  // launchers bind them.
  const auto host = hardware(two_sockets);
  const auto one = divide(host, std::vector(2, on(range(0, 15))));
  const auto other = divide(host, std::vector(2, on(range(0, 15))));
  EXPECT_EQ(one[0].processors, other[0].processors);
  EXPECT_FALSE(one[0].oversubscribed);
  expect_own(divide(host, std::vector(2, on(range(0, 7))))[1], range(4, 7));
  expect_own(divide(host, std::vector(2, on(range(8, 15))))[1], range(12, 15));
}

TEST(CorePartition, LargeHosts) {
  const auto host = hardware("pack:16 core:60 pu:2");
  EXPECT_EQ(divide(host, {on(range(0, 1919))})[0].workers, 1024);  // the largest number of workers
  const auto shares = divide(host, std::vector(192, on(range(0, 1919))));
  for (int i = 0; i < 192; ++i) {
    expect_own(shares[static_cast<std::size_t>(i)], range(10 * i, 10 * i + 9));
  }
}

TEST(CorePartition, UnwantedProcessorsAreMovedAlongAChain) {
  // If processors were only handed out in order, place 0 would get 0, and place 1 none, while one
  // is left.
  const auto shares = divide(hardware("core:3 pu:1"), {with_workers(1, on({0, 1, 2})), on({0}),
                                                       with_workers(1, on({1, 2}))});
  expect_own(shares[0], {1});
  expect_own(shares[1], {0});
  expect_own(shares[2], {2});
}

// The numbers of processors that the places can use, in ascending order.
numbers useful(numbers held, const std::vector<place_cores>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].workers != 0) held[i] = std::min(held[i], places[i].workers);
  }
  std::ranges::sort(held);
  return held;
}

// These numbers for the most even of all divisions.
numbers best_by_trying(int processors, const std::vector<place_cores>& places) {
  numbers best(places.size(), -1);
  numbers held(places.size(), 0);
  const auto try_all = [&](const auto& self, int processor) -> void {
    if (processor == processors) {
      best = std::max(best, useful(held, places));
      return;
    }
    bool wanted = false;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!std::ranges::binary_search(places[i].processors, processor)) continue;
      wanted = true;
      ++held[i];
      self(self, processor + 1);
      --held[i];
    }
    if (!wanted) self(self, processor + 1);
  };
  try_all(try_all, 0);
  return best;
}

TEST(CorePartition, AsEvenAsTheMasksAllow) {
  base::random_engine random(20'260'816);
  const auto host = hardware("core:7 pu:1");
  for (int round = 0; round < 2000; ++round) {
    std::vector<place_cores> places(1 + random() % 4);
    for (place_cores& each : places) {
      const std::uint64_t bits = 1 + random() % 127;
      for (int p = 0; p < 7; ++p) {
        if ((bits >> p & 1U) != 0) each.processors.push_back(p);
      }
      if (random() % 3 == 0) each.workers = static_cast<int>(1 + random() % 3);
    }
    const auto shares = divide(host, places);
    numbers held;
    std::vector<int> owners(7, 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      held.push_back(static_cast<int>(shares[i].processors.size()));
      EXPECT_EQ(shares[i].workers,
                places[i].workers != 0 ? places[i].workers : std::max(1, held.back()));
      EXPECT_EQ(shares[i].bound_to.empty(), shares[i].oversubscribed);
      for (const int p : shares[i].processors) {
        EXPECT_TRUE(std::ranges::binary_search(places[i].processors, p));
        ++owners[static_cast<std::size_t>(p)];
      }
    }
    ASSERT_EQ(useful(held, places), best_by_trying(7, places)) << "round " << round;
    for (int p = 0; p < 7; ++p) {
      const bool in_a_mask = std::ranges::any_of(
          places, [p](const auto& each) { return std::ranges::binary_search(each.processors, p); });
      EXPECT_EQ(owners[static_cast<std::size_t>(p)], in_a_mask ? 1 : 0);
    }
  }
}

TEST(CorePartitionDeath, APlaceWithoutAProcessor) {
  EXPECT_DEATH(divide({}, {on({})}), "a place runs on some processor");
}

}  // namespace

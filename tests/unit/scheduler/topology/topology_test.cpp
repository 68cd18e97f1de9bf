// SPDX-License-Identifier: Apache-2.0

// The processors of this host, and of topologies that hwloc simulates.

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include "topology.hpp"

namespace {

using namespace apgas::scheduler;
using testing::ElementsAre;

std::vector<int> mask_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

struct destroy_topology {
  void operator()(hwloc_topology* t) const noexcept { hwloc_topology_destroy(t); }
};
using simulated_host = std::unique_ptr<hwloc_topology, destroy_topology>;

simulated_host simulate(const char* description) {
  hwloc_topology_t made = nullptr;
  EXPECT_EQ(hwloc_topology_init(&made), 0);
  simulated_host host(made);
  EXPECT_EQ(hwloc_topology_set_synthetic(made, description), 0);
  EXPECT_EQ(hwloc_topology_load(made), 0);
  return host;
}

TEST(Topology, HardwareThreadsHaveTheirCore) {
  const simulated_host host = simulate("pack:2 core:1 pu:2(indexes=0,2,1,3)");
  EXPECT_THAT(processors_in(host.get()),
              ElementsAre(logical_processor{0, 0}, logical_processor{2, 0}, logical_processor{1, 1},
                          logical_processor{3, 1}));
}

// The workers are on processors 7, 0, 1, 2 and 4 of two packages, which have two caches of two
// cores each.
TEST(Topology, ProcessorsAreNearerTheMoreLevelsTheyShare) {
  const simulated_host host = simulate("pack:2 numa:1 l3:2 core:2 pu:1");
  const nearness near({7, 0, 1, 2, 4}, host.get());
  EXPECT_GT(near.between(1, 2), near.between(1, 3)) << "one cache, and one package only";
  EXPECT_GT(near.between(1, 3), near.between(1, 4)) << "one package, and two";
  EXPECT_EQ(near.between(1, 4), near.between(2, 0));
  EXPECT_GT(near.between(0, 4), near.between(0, 1));
  EXPECT_EQ(near.between(3, 1), near.between(1, 3));
  const nearness unknown({0, 1, 2}, nullptr);
  EXPECT_EQ(unknown.between(0, 1), unknown.between(0, 2));
}

TEST(Topology, AThreadStaysOnAProcessorAndHasItsOwnAfterwards) {
  const std::vector<int> before = mask_of_this_thread();
  EXPECT_EQ(processors_of_thread(0), before);
  for (const int processor : {before.front(), before.back()}) {
    const stay_on here(processor);
    EXPECT_EQ(sched_getcpu(), processor);
    EXPECT_EQ(processors_of_thread(gettid()), std::vector{processor});
  }
  EXPECT_EQ(mask_of_this_thread(), before);
}

TEST(Topology, ThisProcess) {
  apgas::base::settings settings;
  settings.workers = 3;
  settings.bind = apgas::base::bind_choice::none;
  const auto cores = cores_of_process(settings);
  EXPECT_EQ(cores.processors, mask_of_this_thread());
  EXPECT_EQ(cores.workers, 3);
  EXPECT_FALSE(cores.binds);
  EXPECT_TRUE(cores_of_process({}).binds);
  EXPECT_EQ(cores.hardware, cores_of_process({}).hardware);
  for (const int each : cores.processors) {
    EXPECT_TRUE(
        std::ranges::any_of(processors_of_host(), [&](const auto& p) { return p.number == each; }));
  }
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(cores.processors.size()));
  EXPECT_GE(allowed_processors(), static_cast<int>(cores.processors.size()));
}

TEST(Topology, AThreadThatIsBoundHasOneProcessor) {
  const int last = mask_of_this_thread().back();
  std::thread([last] {
    bind_thread(last);
    EXPECT_THAT(cores_of_process({}).processors, ElementsAre(last));
    bind_thread(60'000);  // no such processor: the mask stays as it is
    EXPECT_THAT(mask_of_this_thread(), ElementsAre(last));
  }).join();
}

TEST(Topology, AProcessorIsNearestToItself) {
  const std::vector<int> all = mask_of_this_thread();
  const nearness near(all);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      EXPECT_EQ(near.between(a, b), near.between(b, a));
      EXPECT_GE(near.between(a, a), near.between(a, b));
    }
  }
}

TEST(Topology, UnknownProcessorsAreNear0) {
  const nearness near({60'000, 60'001});
  EXPECT_EQ(near.between(0, 1), 0);
}

}  // namespace

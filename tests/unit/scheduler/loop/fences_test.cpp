// SPDX-License-Identifier: Apache-2.0
// The statistics count each fence that interrupts all threads of the process, by its reason.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/membarrier.hpp>

#include "support/scheduler_fixture.hpp"

namespace apgas::test {
namespace {

// Runs tasks one after the other, so that workers fall asleep between them.
scheduler::statistics after_sleeps(bool asymmetric_fence) {
  scheduler::config settings = task_place::config_for(2);
  settings.asymmetric_fence = asymmetric_fence;
  settings.spin = std::chrono::microseconds(20);
  task_place place(settings);
  for (std::uint64_t slept = 0; slept < 4; slept = place.tasks().stats().sleeps) {
    place.run([] {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return place.tasks().stats();
}

TEST(Fences, OfWorkersThatGoToSleepAreCounted) {
  if (!base::membarrier_available()) return;
  const scheduler::statistics s = after_sleeps(true);
  EXPECT_GE(s.sleep_fences + 2, s.sleeps) << "the counts of two workers are read one by one";
  EXPECT_EQ(s.fences, 0U) << "nobody stole";
}

// The victim does not look at its deque, and so does not answer the thief.
TEST(Fences, OfThievesAreCounted) {
  if (!base::membarrier_available()) return;
  task_place place(2);
  place.run([] {
    std::atomic<bool> stolen{false};
    async([&] { stolen = true; });
    while (!stolen) base::cpu_relax();
  });
  EXPECT_GE(place.tasks().stats().fences, 1U);
}

TEST(Fences, OfOneThreadAloneAreNotCounted) {
  const scheduler::statistics s = after_sleeps(false);
  EXPECT_EQ(s.sleep_fences, 0U);
  EXPECT_EQ(s.other_fences, 0U);
}

}  // namespace
}  // namespace apgas::test

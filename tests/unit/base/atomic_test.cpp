// SPDX-License-Identifier: Apache-2.0
// The fences on real hardware: each of two threads stores to its own word, executes a fence and
// loads the word of the other thread. On x86 the test detects a missing fence on either side: in
// 50,000 rounds, a few to several hundred times neither thread sees the store of the other one.
#include <apgas/base/atomic.hpp>

#include <thread>

#include <gtest/gtest.h>

#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/sanitizer.hpp>

using namespace apgas::base;

namespace {

// A sanitizer orders more than the hardware does. There the test only checks that the fences can be
// called.
constexpr int rounds = APGAS_SANITIZED ? 500 : 50'000;

struct dekker {
  alignas(64) atomic<int> light_flag{0};
  alignas(64) atomic<int> heavy_flag{0};
  alignas(64) atomic<int> round{0};
  alignas(64) atomic<int> answered{0};
  int light_saw = 0;  // written by the light side before `answered`, read after it
};

// Runs `rounds` rounds and returns the number of those in which neither thread saw the other's
// store.
int count_mutual_misses(void (*light)(), void (*heavy)()) {
  dekker d;
  int misses = 0;
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      spin_wait wait;
      while (d.round.load(acquire) != i) wait.once();
      d.light_flag.store(1, relaxed);
      light();
      d.light_saw = d.heavy_flag.load(relaxed);
      d.answered.store(i, release);
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    d.light_flag.store(0, relaxed);
    d.heavy_flag.store(0, relaxed);
    d.round.store(i, release);
    for (int pauses = i % 16; pauses > 0; --pauses)
      cpu_relax();  // varies the overlap with the other
    d.heavy_flag.store(1, relaxed);
    heavy();
    const int saw = d.light_flag.load(relaxed);
    spin_wait wait;
    while (d.answered.load(acquire) != i) wait.once();
    misses += saw == 0 && d.light_saw == 0 ? 1 : 0;
  }
  other.join();
  return misses;
}

}  // namespace

TEST(Membarrier, AvailabilityDoesNotChange) {
  const bool available = membarrier_available();
  membarrier();  // does not fail, whether it is available or not
  EXPECT_EQ(membarrier_available(), available);
}

TEST(Fences, ALightAndAHeavyFenceSeeEachOther) {
  if (membarrier_available()) {
    EXPECT_EQ(count_mutual_misses(light_fence, heavy_fence), 0);
  } else {
    EXPECT_EQ(count_mutual_misses(full_fence, heavy_fence), 0);
  }
}

TEST(Fences, TwoFullFencesSeeEachOther) {
  EXPECT_EQ(count_mutual_misses(full_fence, full_fence), 0);
}

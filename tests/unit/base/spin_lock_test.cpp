// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/spin_lock.hpp>

#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/cache_line.hpp>

using apgas::base::cache_aligned;
using apgas::base::spin_lock;

TEST(SpinLock, TryLockFailsWhileHeld) {
  spin_lock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// There are more threads than cores, so the holder is sometimes preempted and the waiting threads
// must yield their core to it.
TEST(SpinLock, ExcludesOversubscribedThreads) {
  constexpr int threads = 8;
  constexpr int rounds = 20'000;
  spin_lock lock;
  long counter = 0;
  std::vector<std::jthread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        std::scoped_lock guard(lock);
        ++counter;
      }
    });
  }
  workers.clear();
  EXPECT_EQ(counter, long{threads} * rounds);
}

TEST(CacheAligned, NeighboursAreOnDifferentLines) {
  std::vector<cache_aligned<int>> counters(4);
  *counters[1] = 5;
  EXPECT_EQ(*counters[1], 5);
  EXPECT_EQ(reinterpret_cast<char*>(&*counters[1]) - reinterpret_cast<char*>(&*counters[0]), 64);
  cache_aligned<std::vector<int>> list(3, 7);
  EXPECT_EQ(list->size(), 3u);
}

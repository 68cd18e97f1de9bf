// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/biased_lock.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/membarrier.hpp>

namespace {

using apgas::base::biased_lock;
using apgas::base::lock_owner;

TEST(BiasedLock, WithoutOwnerIsASpinLock) {
  const lock_owner nobody;
  biased_lock lock(nobody);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  lock.lock();
  lock.unlock();
}

TEST(BiasedLock, OwnerAndOthersExcludeEachOther) {
  if (!apgas::base::membarrier_available()) GTEST_SKIP() << "membarrier(2) is not available";
  lock_owner owner;
  biased_lock lock(owner);
  owner.claim();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  std::thread([&] {
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  }).join();
  owner.give_up();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// The owner takes the lock most of the time, and another thread becomes the owner now and then.
TEST(BiasedLock, CountsEverySection) {
  if (!apgas::base::membarrier_available()) GTEST_SKIP() << "membarrier(2) is not available";
  constexpr int claims = 20;
  constexpr int sections_of_owner = 20'000;
  constexpr int sections_of_others = 2'000;
  lock_owner owner;
  biased_lock lock(owner);
  long sections = 0;
  std::atomic<long> tried{0};
  std::vector<std::thread> others;
  for (int t = 0; t < 2; ++t) {
    others.emplace_back([&, waits = t == 0] {
      for (int i = 0; i < sections_of_others; ++i) {
        if (waits) {
          lock.lock();
        } else if (!lock.try_lock()) {
          continue;
        }
        ++sections;
        ++tried;
        lock.unlock();
      }
    });
  }
  for (int c = 0; c < claims; ++c) {
    std::thread([&] {
      owner.claim();
      for (int i = 0; i < sections_of_owner; ++i) {
        lock.lock();
        ++sections;
        lock.unlock();
      }
      owner.give_up();
    }).join();
  }
  for (std::thread& t : others) t.join();
  EXPECT_EQ(sections, tried + long{claims} * sections_of_owner);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/biased_lock.hpp>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/membarrier.hpp>

namespace {

using apgas::base::biased_lock;
using apgas::base::lock_owner;

// The owner takes the lock most of the time, and another thread becomes the owner now and then.
TEST(BiasedLock, CountsEverySection) {
  const bool may_claim = apgas::base::membarrier_available();
  constexpr int claims = 20;
  constexpr int sections_of_owner = 20'000;
  constexpr int sections_of_others = 2'000;
  lock_owner owner;
  biased_lock lock(owner);
  long sections = 0;
  std::vector<std::thread> others;
  for (int t = 0; t < 2; ++t) {
    others.emplace_back([&] {
      for (int i = 0; i < sections_of_others; ++i) {
        lock.lock();
        ++sections;
        lock.unlock();
      }
    });
  }
  for (int c = 0; c < claims; ++c) {
    std::thread([&] {
      if (may_claim) owner.claim();
      for (int i = 0; i < sections_of_owner; ++i) {
        lock.lock();
        ++sections;
        lock.unlock();
      }
      if (may_claim) owner.give_up();
    }).join();
  }
  for (std::thread& t : others) t.join();
  EXPECT_EQ(sections, 2L * sections_of_others + long{claims} * sections_of_owner);
}

TEST(BiasedLock, CountsTheFencesOfItsOwnerAndOfOthers) {
  lock_owner owner;
  biased_lock lock(owner);
  const auto enter = [&] {
    lock.lock();
    lock.unlock();
  };
  enter();
  EXPECT_EQ(owner.fences(), 0U) << "without an owner it is a spin lock";
  if (!apgas::base::membarrier_available()) return;
  owner.claim();
  enter();
  EXPECT_EQ(owner.fences(), 1U) << "the owner pays only when it claims the locks";
  std::thread(enter).join();
  EXPECT_EQ(owner.fences(), 2U);
  owner.give_up();
  std::thread(enter).join();
  EXPECT_EQ(owner.fences(), 2U);
}

}  // namespace

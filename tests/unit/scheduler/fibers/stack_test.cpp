// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/base/sanitizer.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/scheduler/stacks.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Stacks: deep recursion, overflow, and very many stacks at once.
namespace apgas::test {
namespace {

[[gnu::noinline]] int dig(int depth, volatile char* above) {
  volatile char frame[1024];
  frame[0] = above == nullptr ? 'a' : above[0];
  return depth == 0 ? frame[0] : dig(depth - 1, frame) + frame[0];
}

// The sanitizers report a stack overflow themselves.
#if !APGAS_SANITIZED
class StackOverflow : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using StackOverflowDeathTest = StackOverflow;

TEST_F(StackOverflowDeathTest, NamesTheTaskItsSpawnSiteAndTheSetting) {
  EXPECT_DEATH(run_tasks(2, [] { async(name("digger"), [] { dig(1 << 20, nullptr); }); }),
               "stack overflow in task \"digger\" spawned at .*stack_test.cpp:[0-9]+ .*"
               "raise APGAS_STACK_SIZE");
}

TEST_F(StackOverflowDeathTest, NamesTheSpawnSiteOfAnUnnamedTask) {
  EXPECT_DEATH(run_tasks(1, [] { async([] { dig(1 << 20, nullptr); }); }),
               "stack overflow in task spawned at .*stack_test.cpp:[0-9]+ ");
}

TEST_F(StackOverflowDeathTest, ReportsTheMainTask) {
  EXPECT_DEATH(run_tasks(1, [] { dig(1 << 20, nullptr); }), "stack overflow in task main");
}

template <std::size_t Bytes>
[[gnu::noinline]] char touch_lowest_of() {
  volatile char frame[Bytes];
  frame[0] = 1;
  return frame[0];
}

// The function touches only the lowest byte of its frame, far below the part of the stack that was
// used before.
TEST_F(StackOverflowDeathTest, IsDetectedInALargeFrame) {
  EXPECT_DEATH(run_tasks(1, [] { async(name("large"), touch_lowest_of<1000 * 1024>); }),
               "stack overflow in task \"large\"");
}

// The frame reaches beyond its own stack and guard into those of the suspended task below it.
TEST_F(StackOverflowDeathTest, DoesNotBlameTheTaskOnTheNeighbouringStack) {
  EXPECT_DEATH(run_tasks(1,
                         [] {
                           async(name("huge"), touch_lowest_of<2000 * 1024>);
                           yield();
                         }),
               "stack overflow in task \"huge\"");
}

TEST_F(StackOverflowDeathTest, LeavesOtherFaultsAlone) {
  static volatile int* volatile nowhere = nullptr;  // hidden from the compiler
  EXPECT_EXIT(run_tasks(1, [] { *nowhere = 1; }), testing::KilledBySignal(SIGSEGV), "^$");
}
#endif

TEST(Stack, HoldsADeepRecursionWithTheDefaultSize) {
  run_tasks(2, [] { EXPECT_GT(dig(scaled(700, 100), nullptr), 0); });
}

int depth_of_finishes(int depth) {
  if (depth == 0) {
    scheduler::yield();
    return 0;
  }
  int below = 0;
  finish([&] { async([&] { below = depth_of_finishes(depth - 1); }); });
  return below + 1;
}

TEST(Stack, HoldsAFinishForEachLevelOfADeepTree) {
  static constexpr int depth = scaled(1500, 150);
  for (int workers : {1, 2}) {
    run_tasks(workers, [] { EXPECT_EQ(depth_of_finishes(depth), depth); });
  }
}

int depth_of_joins(int depth) {
  if (depth == 0) {
    scheduler::yield();
    return 0;
  }
  auto [a, b] = fork_join([] { return 1; }, [depth] { return depth_of_joins(depth - 1); });
  return a + b;
}

TEST(Stack, HoldsAJoinForEachLevelOfADeepTree) {
  static constexpr int depth = scaled(1500, 150);
  for (int workers : {1, 2}) {
    run_tasks(workers, [] { EXPECT_EQ(depth_of_joins(depth), depth); });
  }
}

TEST(Stack, HasTheConfiguredSize) {
  const std::size_t before = scheduler::stacks_in_use();
  scheduler::config small = task_place::config_for(1);
  small.stack_bytes = 256 * 1024;
  run_tasks(small, [] { EXPECT_GT(dig(60, nullptr), 0); });
  run_tasks(1, [] { EXPECT_GT(dig(100, nullptr), 0); });  // the default again
  EXPECT_EQ(scheduler::stacks_in_use(), before);
}

TEST(Stack, MustHaveTheSameSizeInAllSchedulersOfAProcess) {
  task_place place(1);
  place.run([] {});  // from now on its worker has a stack
  scheduler::config other = task_place::config_for(1);
  other.stack_bytes = 128 * 1024;
  EXPECT_THROW(task_place{other}, launch_error);
  bool ran = false;
  place.run([&] { ran = true; });
  EXPECT_TRUE(ran);
}

// Each suspended task keeps its stack. The settings are the defaults.
TEST(Stack, VeryManyTasksMayBeSuspendedAtOnce) {
  static constexpr int many = scaled(100'000, 3'000, 8'000);
  for (int workers : {1, 2}) {
    run_tasks(workers, [] {
      base::spin_lock lock;
      std::vector<scheduler::fiber*> waiting;
      std::atomic<int> resumed{0};
      finish([&] {
        for (int i = 0; i < many; ++i) {
          async([&] {
            scheduler::suspend("the test", [&](scheduler::fiber* f) {
              std::lock_guard guard(lock);
              waiting.push_back(f);
            });
            ++resumed;
          });
        }
        EXPECT_TRUE(yields_until([&] {
          std::lock_guard guard(lock);
          return waiting.size() == static_cast<std::size_t>(many);
        }));
        EXPECT_GE(scheduler::stacks_in_use(), static_cast<std::size_t>(many));
        for (scheduler::fiber* f : waiting) scheduler::resume(f);
      });
      EXPECT_EQ(resumed, many);
    });
  }
}

}  // namespace
}  // namespace apgas::test

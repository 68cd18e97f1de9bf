// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

#include <apgas/async.hpp>
#include <apgas/scheduler/stacks.hpp>

#include "support/scheduler_fixture.hpp"

// Schedulers are created and destroyed within a process, one after the other and at the same time.
namespace apgas::test {
namespace {

TEST(Lifetime, AThousandSchedulersRunOneAfterTheOther) {
  static constexpr int schedulers = scaled(1000, 100);
  const std::size_t stacks = scheduler::stacks_in_use();
  int ran = 0;
  for (int i = 0; i < schedulers; ++i) {
    std::atomic<int> tasks{0};
    run_tasks(1 + i % 3, [&] {
      finish([&] {
        for (int k = 0; k < 10; ++k) {
          async([&] {
            scheduler::yield();
            ++tasks;
          });
        }
      });
    });
    ran += tasks;
  }
  EXPECT_EQ(ran, schedulers * 10);
  EXPECT_EQ(scheduler::stacks_in_use(), stacks);
}

TEST(Lifetime, AnUnusedSchedulerStops) {
  for (int i = 0; i < 50; ++i) task_place place(2);
}

TEST(Lifetime, SeveralSchedulersRunAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> ran{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      task_place place(2);
      for (int k = 0; k < 20; ++k) {
        place.run([&] {
          finish([&] {
            for (int m = 0; m < 100; ++m) {
              async([&, m] {
                if (m % 10 == 0) scheduler::yield();
                ++ran;
              });
            }
          });
        });
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(ran, 4 * 20 * 100);
}

// The default stack size of threads is set to more than the address space, so no thread can start.
TEST(Lifetime, AThreadThatCannotStartIsALaunchError) {
  const std::size_t stacks = scheduler::stacks_in_use();
  pthread_attr_t usual, impossible;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&impossible), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&impossible, std::size_t{1} << 48), 0);
  ASSERT_EQ(pthread_setattr_default_np(&impossible), 0);
  try {
    task_place place(3);
    ADD_FAILURE() << "the scheduler started";
  } catch (const launch_error& e) {
    EXPECT_NE(std::string(e.what()).find("worker 0 of 3"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("APGAS_WORKERS"), std::string::npos) << e.what();
  }
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  pthread_attr_destroy(&impossible);
  pthread_attr_destroy(&usual);
  EXPECT_EQ(scheduler::stacks_in_use(), stacks);
  bool ran = false;
  run_tasks(3, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

// A task of one scheduler resumes a task of another one.
TEST(Lifetime, AResumedTaskContinuesInItsOwnScheduler) {
  task_place one(1), other(1);
  std::atomic<scheduler::fiber*> waiting{nullptr};
  std::thread first([&] {
    one.run([&] {
      scheduler::scheduler* const home = scheduler::current_fiber()->on->home;
      scheduler::suspend("the test", [&](scheduler::fiber* f) { waiting = f; });
      EXPECT_EQ(scheduler::current_fiber()->on->home, home);
    });
  });
  other.run([&] {
    while (waiting == nullptr) scheduler::yield();
    scheduler::resume(waiting);
  });
  first.join();
}

}  // namespace
}  // namespace apgas::test

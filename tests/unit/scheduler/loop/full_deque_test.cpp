// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/latch.hpp>

#include "support/scheduler_fixture.hpp"

// A deque that becomes full: its tasks move to a larger array, or, where there is none, the worker
// runs the newest task until there is room.
namespace apgas::test {
namespace {

constexpr std::size_t slots = 512;

scheduler::config with_small_deques(int workers, std::size_t most) {
  scheduler::config settings = task_place::config_for(workers);
  settings.deque_slots = slots;
  settings.deque_slots_most = most;
  return settings;
}

struct sizes {
  int workers;
  std::size_t most;
};

class FullDeque : public testing::TestWithParam<sizes> {
 protected:
  static scheduler::config settings() {
    return with_small_deques(GetParam().workers, GetParam().most);
  }
};
INSTANTIATE_TEST_SUITE_P(WorkersAndRoom, FullDeque,
                         testing::Values(sizes{1, slots}, sizes{2, slots}, sizes{4, slots},
                                         sizes{1, 16 * slots}, sizes{2, 16 * slots},
                                         sizes{1, std::size_t{1} << 30},
                                         sizes{2, std::size_t{1} << 30}));

// A recursion each of whose levels leaves tasks in the deque, too few of them to be drained.
void nest(int depth, std::atomic<int>& ran) {
  finish([&] {
    for (int i = 0; i < 20; ++i) async([&] { ++ran; });
    if (depth > 1) {
      async([&, depth] { nest(depth - 1, ran); });
    }
  });
}

TEST_P(FullDeque, RunsEveryTaskOnce) {
  run_tasks(settings(), [] {
    std::atomic<int> ran{0};
    nest(scaled(200, 60), ran);
    EXPECT_EQ(ran, 20 * scaled(200, 60));
    if (GetParam().workers > 1) return;  // thieves may have kept the deque short
    const std::size_t capacity = scheduler::current_fiber()->on->tasks.capacity();
    EXPECT_EQ(capacity > slots, GetParam().most > slots);
    EXPECT_LE(capacity, GetParam().most);
  });
}

// Leaves tasks of a finish in the deque of the worker, from inside the branches of joins.
void spawn_below_joins(int depth, std::atomic<int>& ran) {
  if (depth == 0) return;
  for (int i = 0; i < 20; ++i) async([&] { ++ran; });
  fork_join([&] { ++ran; }, [&] { spawn_below_joins(depth - 1, ran); });
}

TEST_P(FullDeque, MayFillUpInsideJoins) {
  run_tasks(settings(), [] {
    std::atomic<int> ran{0};
    finish([&] { spawn_below_joins(100, ran); });
    EXPECT_EQ(ran, 21 * 100);
  });
}

TEST_P(FullDeque, TasksThatSuspendGoOn) {
  run_tasks(settings(), [] {
    constexpr int spawners = 40;
    std::atomic<int> ran{0};
    latch all(spawners);
    finish([&] {
      for (int k = 0; k < spawners; ++k) {
        async([&] {
          for (int i = 0; i < 60; ++i) async([&] { ++ran; });
          all.count_down();
          all.wait();
          for (int i = 0; i < 60; ++i) async([&] { ++ran; });
        });
      }
    });
    EXPECT_EQ(ran, 120 * spawners);
  });
}

TEST(FullDequeOfABusyWorker, ExternalTasksAreStillRun) {
  task_place place(with_small_deques(1, slots));
  std::atomic<bool> stop{false};
  struct : scheduler::external_task {
    std::atomic<bool>* flag = nullptr;
  } work;
  work.flag = &stop;
  work.run = [](scheduler::external_task* self, scheduler::fiber&) noexcept {
    static_cast<decltype(work)*>(self)->flag->store(true);
    return static_cast<scheduler::task_counter*>(nullptr);
  };
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    place.tasks().submit(&work);
  });
  place.run([&] {
    std::atomic<int> ran{0};
    while (!stop) finish([&] { spawn_below_joins(40, ran); });
  });
  other.join();
}

}  // namespace
}  // namespace apgas::test

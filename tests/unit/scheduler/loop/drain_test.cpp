// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/latch.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Draining: a spawner with too many tasks is suspended until another fiber of its worker has run
// them. See docs/protocols/drain.md.
namespace apgas::test {
namespace {

class Drain : public testing::TestWithParam<int> {
 protected:
  template <class F>
  void run(F f) {
    run_tasks(GetParam(), std::move(f));
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, Drain, testing::Values(1, 2, 4, 40));

TEST_P(Drain, RunsEveryTaskOnce) {
  task_place place(GetParam());
  const auto drains_before = place.tasks().stats().drains;
  place.run([] {
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> ran{0};
      finish([&] {
        for (int k = 0; k < 5000; ++k) async([&] { ++ran; });
      });
      EXPECT_EQ(ran, 5000);
    }
  });
  EXPECT_GT(place.tasks().stats().drains, drains_before)
      << "nothing was drained, so nothing was tested";
}

TEST_P(Drain, KeepsTheDequeShortWhenTheTasksSuspend) {
  // Every task suspends, so every drain ends early and the spawner continues. The tasks that it
  // leaves behind must not accumulate.
  task_place place(GetParam());
  place.run([&] {
    std::atomic<std::size_t> longest{0};
    const int tasks = scaled(100'000, 1'500, 5'000);
    latch all(tasks);
    finish([&] {
      for (int k = 0; k < tasks; ++k) {
        async([&] {
          const std::size_t now = scheduler::current_fiber()->on->tasks.size();
          if (now > longest) longest = now;
          all.count_down();
          all.wait();
        });
      }
    });
    EXPECT_LT(longest, 8192U);
  });
}

TEST_P(Drain, StopsAtTheSlotOfAJoin) {
  run([] {
    for (int i = 0; i < 50; ++i) {
      std::atomic<int> first{0}, ran{0};
      finish([&] {
        for (int k = 0; k < 100; ++k) async([&] { ++ran; });
        fork_join([&] { ++first; },
                  [&] {
                    for (int k = 0; k < 400; ++k) async([&] { ++ran; });
                  });
        EXPECT_EQ(first, 1);
      });
      EXPECT_EQ(first, 1);
      EXPECT_EQ(ran, 500);
    }
  });
}

void spawn_below(int depth, std::atomic<int>& branches, std::atomic<int>& ran) {
  if (depth == 0) {
    for (int k = 0; k < 400; ++k) async([&] { ++ran; });
    return;
  }
  fork_join(
      [&, depth] {
        ++branches;
        spawn_below(depth - 1, branches, ran);
      },
      [&, depth] {
        spawn_below(depth - 1, branches, ran);
        for (int k = 0; k < 400; ++k) async([&] { ++ran; });
      });
}

TEST_P(Drain, RunsEveryTaskOnceUnderNestedJoins) {
  run([] {
    for (int i = 0; i < 5; ++i) {
      std::atomic<int> branches{0}, ran{0};
      finish([&] { spawn_below(4, branches, ran); });
      EXPECT_EQ(branches, 15);
      EXPECT_EQ(ran, 31 * 400);
    }
  });
}

// Drained tasks that spawn, suspend, join and open finishes of their own.
TEST_P(Drain, DrainedTasksMayUseEveryConstruct) {
  run([] {
    for (int i = 0; i < 5; ++i) {
      std::atomic<int> ran{0};
      finish([&] {
        for (int k = 0; k < 600; ++k) {
          async([&, k] {
            ++ran;
            if (k % 7 == 0) scheduler::yield();
            if (k % 11 == 0) async([&] { ++ran; });
            if (k % 13 == 0) fork_join([&] { async([&] { ++ran; }); }, [&] { ++ran; });
            if (k % 50 == 0) {
              finish([&] {
                for (int m = 0; m < 300; ++m) async([&] { ++ran; });
              });
            }
            if (k % 200 == 0) {
              for (int m = 0; m < 300; ++m) async([&] { ++ran; });
            }
          });
        }
      });
      EXPECT_EQ(ran, 600 + 55 + 2 * 47 + 12 * 300 + 3 * 300);
    }
  });
}

// The first task that the spawner's own worker runs does not return until all tasks have been
// spawned. So another worker must continue the spawner.
TEST(DrainOfTwoWorkers, ALongDrainedTaskDoesNotHoldUpTheSpawner) {
  run_tasks(2, [] {
    for (int i = 0; i < 20; ++i) {
      std::atomic<bool> claimed{false}, all_spawned{false}, in_time{true};
      scheduler::worker* const spawners = worker_now();
      finish([&] {
        for (int k = 0; k < 3000; ++k) {
          async([&] {
            if (worker_now() != spawners || claimed.exchange(true)) return;
            in_time = spins_until([&] { return all_spawned.load(); });
          });
        }
        all_spawned = true;
      });
      EXPECT_TRUE(in_time);
    }
  });
}

// With one worker, the spawner can only continue when the drained task that waits for it suspends.
TEST_P(Drain, ADrainedTaskMayWaitForItsSpawner) {
  run([] {
    for (int i = 0; i < 5; ++i) {
      std::atomic<bool> all_spawned{false};
      std::atomic<int> in_time{0};
      finish([&] {
        for (int k = 0; k < 600; ++k) {
          async([&] { in_time += yields_until([&] { return all_spawned.load(); }) ? 1 : 0; });
        }
        all_spawned = true;
      });
      EXPECT_EQ(in_time, 600);
    }
  });
}

TEST_P(Drain, ExceptionsOfDrainedTasksReachTheFinish) {
  run([] {
    try {
      finish([] {
        for (int k = 0; k < 1000; ++k) {
          async([k] {
            if (k % 100 == 0) throw k;
          });
        }
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const multiple_exceptions& e) {
      EXPECT_EQ(e.size(), 10u);
    }
  });
}

}  // namespace
}  // namespace apgas::test

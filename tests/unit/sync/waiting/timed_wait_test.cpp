// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/timed_wait.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/timed_waits.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::finish;
using apgas::base::spin_lock;
using apgas::scheduler::fiber;
using apgas::sync::deadline;
using apgas::sync::queue_until;
using apgas::sync::queued_task;
using apgas::sync::suspend_until;
using apgas::sync::wait_queue;
using apgas::test::for_workers;
using apgas::test::run_tasks;
using apgas::test::scaled;

deadline now() { return deadline::clock::now(); }

// Waits until the deadline has passed, and does not let other tasks run.
void spin_until(deadline when) {
  while (now() <= when) {
  }
}

TEST(WaitQueue, EntriesAreRemovedFromAnyPosition) {
  for (std::size_t removed = 0; removed < 5; ++removed) {
    wait_queue q;
    std::array<queued_task, 5> tasks;
    for (queued_task& t : tasks) q.push(t);
    EXPECT_TRUE(q.remove(tasks[removed]));
    EXPECT_FALSE(q.remove(tasks[removed])) << "it is not in the queue any more";
    q.push(tasks[removed]);
    for (std::size_t i = 0; i < 5; ++i) {
      if (i == removed) continue;
      EXPECT_EQ(q.front(), &tasks[i]);
      EXPECT_EQ(q.pop(), &tasks[i]);
      EXPECT_FALSE(q.remove(tasks[i]));
    }
    EXPECT_EQ(q.pop(), &tasks[removed]) << "it went to the end";
    EXPECT_TRUE(q.empty());
    EXPECT_EQ(q.pop(), nullptr);
  }
}

TEST(TimedWait, ATaskThatNeedNotWaitIsServed) {
  for_workers([] {
    spin_lock lock;
    wait_queue q;
    for (const auto limit : {-1s, 0s, 3600s}) {
      EXPECT_TRUE(queue_until("test", lock, q, now() + limit, [] { return true; }));
    }
    EXPECT_FALSE(queue_until("test", lock, q, now(), [] { return false; }));
    EXPECT_FALSE(queue_until("test", lock, q, deadline::min(), [] { return false; }));
    EXPECT_TRUE(q.empty());
  });
}

// The timer is submitted for a time that has passed, so it may expire before the task is in the
// list, or while it is.
TEST(TimedWait, ATimerMayExpireAtOnce) {
  const int rounds = scaled(300, 60);
  std::atomic<int> places{0};
  std::atomic<int> unlocked{0};  // not on the stack of the task, which may go on before that call
  for_workers([&] {
    ++places;
    for (int i = 0; i < rounds; ++i) {
      spin_lock lock;
      wait_queue q;
      queued_task me;
      const bool served = suspend_until(
          "test", lock, now() - 1s,
          [&](fiber* self) {
            me.task = self;
            q.push(me);
            return true;
          },
          [&] { return q.remove(me); }, [&unlocked] { ++unlocked; });
      EXPECT_FALSE(served);
      EXPECT_TRUE(q.empty());
    }
  });
  EXPECT_EQ(unlocked, places * rounds) << "once for each wait";
}

// The timer expires before a task that need not wait can cancel it. Then the task was served, and
// waits for its timer, which is on its way to run. If the timer came before, the task timed out.
TEST(TimedWait, ATaskThatWasServedStaysServed) {
  for_workers([] {
    for (int i = 0; i < scaled(100, 20); ++i) {
      spin_lock lock;
      bool asked = false;
      const deadline when = now() + std::chrono::microseconds(50);
      const bool served = suspend_until(
          "test", lock, when,
          [&](fiber*) {
            asked = true;
            return false;
          },
          [] { return false; }, [when] { spin_until(when); });
      EXPECT_EQ(served, asked);
    }
  });
}

TEST(TimedWait, ExactlyOneSideResumesTheTask) {
  for_workers([] {
    int served = 0;
    const int rounds = scaled(2000, 300);
    for (int i = 0; i < rounds; ++i) {
      spin_lock lock;
      wait_queue q;
      const deadline when = now() + std::chrono::microseconds(10);
      bool taken = false;
      finish([&] {
        async([&, i] {
          spin_until(when + std::chrono::nanoseconds((i % 40 - 20) * 100));
          queued_task* next = nullptr;
          {
            const std::lock_guard hold(lock);
            next = q.pop();
          }
          if (next == nullptr) return;
          taken = true;
          apgas::scheduler::resume(next->task);
        });
        const bool in_time = queue_until("test", lock, q, when, [] { return false; });
        EXPECT_TRUE(q.empty());
        served += in_time ? 1 : 0;
        if (in_time) {
          EXPECT_TRUE(taken);
        }
      });
    }
    EXPECT_LE(served, rounds);
  });
}

// The time of a clock that the test sets.
struct manual_clock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<manual_clock>;
  static constexpr bool is_steady = false;
  static inline time_point value{};
  static time_point now() noexcept { return value; }
};

TEST(AttemptUntil, WaitsAgainWhenTheClockWasSetBack) {
  manual_clock::value = manual_clock::time_point(100ms);
  const manual_clock::time_point t(200ms);
  std::vector<deadline> deadlines;
  const deadline begun = now();
  const auto attempt = [&](deadline when) {
    deadlines.push_back(when);
    // The clock was set back during the first attempt.
    manual_clock::value = deadlines.size() == 1 ? manual_clock::time_point(150ms) : t;
    return false;
  };
  EXPECT_FALSE(apgas::sync::attempt_until(t, attempt));
  ASSERT_EQ(deadlines.size(), 2U);
  EXPECT_GE(deadlines[0], begun + 100ms);
  EXPECT_GE(deadlines[1], begun + 50ms);
  EXPECT_FALSE(apgas::sync::attempt_until(t, attempt)) << "tries once when the time has passed";
  ASSERT_EQ(deadlines.size(), 3U);
  EXPECT_LE(deadlines[2], begun);
  EXPECT_TRUE(apgas::sync::attempt_until(t, [](deadline) { return true; }));
}

}  // namespace

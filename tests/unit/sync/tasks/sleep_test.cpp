// SPDX-License-Identifier: Apache-2.0
#include <apgas/sleep.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Tests sleep_for, sleep_until and yield.
namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::test::run_tasks;
using apgas::test::scaled;
using apgas::test::workers_started;
using std::chrono::steady_clock;

TEST(sleep, is_never_too_short) {
  run_tasks(2, [] {
    std::atomic<int> early{0};
    apgas::finish([&] {
      for (int i = 0; i < 400; ++i) {
        async([&, i] {
          const auto d = std::chrono::nanoseconds(i * 7919LL);
          const auto start = steady_clock::now();
          apgas::sleep_for(d);
          if (steady_clock::now() - start < d) ++early;
        });
      }
    });
    EXPECT_EQ(early, 0);
  });
}

TEST(sleep, is_hardly_longer_when_the_worker_is_idle) {
  for (int workers = 1; workers <= 2; ++workers) {
    run_tasks(workers, [] {
      auto best = steady_clock::duration::max();
      for (int i = 0; i < 10; ++i) {
        const auto end = steady_clock::now() + 3ms;
        apgas::sleep_until(end);
        best = std::min(best, steady_clock::now() - end);
      }
      EXPECT_GE(best, 0ns);
      EXPECT_LT(best, 20ms) << "the best of ten";
    });
  }
}

TEST(sleep, wakes_in_the_order_of_the_times) {
  run_tasks(1, [] {
    const auto start = steady_clock::now() + 200ms;  // until all tasks sleep
    std::vector<int> woken;
    apgas::finish([&] {
      for (const int i : {3, 1, 4, 2, 5}) {
        async([&, i] {
          apgas::sleep_until(start + i * 4ms);
          woken.push_back(i);
        });
      }
    });
    EXPECT_EQ(woken, (std::vector{1, 2, 3, 4, 5}));
  });
}

TEST(sleep, a_short_sleep_is_not_delayed_by_an_earlier_long_one) {
  run_tasks(2, [] {
    std::atomic<bool> short_over{false};
    apgas::finish([&] {
      async([&] {
        apgas::sleep_for(3s);
        EXPECT_TRUE(short_over);
      });
      apgas::sleep_for(20ms);  // meanwhile the workers sleep until the end of the long one
      async([&] {
        apgas::sleep_for(2ms);
        short_over = true;
      });
    });
  });
}

TEST(sleep, sleep_until_accepts_other_clocks) {
  run_tasks(1, [] {
    const auto end = std::chrono::system_clock::now() + 3ms;
    apgas::sleep_until(end);
    EXPECT_GE(std::chrono::system_clock::now(), end);
    apgas::sleep_until(std::chrono::system_clock::time_point::min());
    apgas::sleep_until(steady_clock::time_point::min());
    apgas::sleep_for(std::chrono::duration<double>(1e-4));
    apgas::sleep_for(-1h);
  });
}

TEST(sleep, a_hundred_thousand_tasks_sleep_at_once) {
  const int n = scaled(100'000, 3'000, 4'000);
  // One worker starts the tasks, while all others wake those that sleep already, again and again.
  const std::chrono::milliseconds nap = std::max(100ms, 4ms * workers_started(2));
  run_tasks(2, [n, nap] {
    std::atomic<int> asleep{0};
    std::atomic<int> awake{0};
    apgas::finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&] {
          ++asleep;
          do {
            apgas::sleep_for(nap);
          } while (asleep < n);
          ++awake;
        });
      }
    });
    EXPECT_EQ(awake, n);
  });
}

TEST(yield, lets_unstarted_resumed_and_timed_tasks_go_on) {
  run_tasks(1, [] {
    bool unstarted = false;
    bool timed = false;
    async([&] { unstarted = true; });
    async([&] {
      apgas::sleep_for(2ms);
      timed = true;
    });
    while (!unstarted || !timed) apgas::yield();  // would not end if yield starved a task
  });
}

TEST(sleep, misuse) {
  run_tasks(1, [] {
    apgas::test::as_if_atomic([] {
      EXPECT_THROW(apgas::yield(), apgas::illegal_operation);
      EXPECT_THROW(apgas::sleep_for(0s), apgas::illegal_operation);
      EXPECT_THROW(apgas::sleep_until(steady_clock::now()), apgas::illegal_operation);
    });
  });
  EXPECT_THROW(apgas::yield(), apgas::illegal_operation);
  EXPECT_THROW(apgas::sleep_for(1s), apgas::illegal_operation);
  EXPECT_THROW(apgas::sleep_until(steady_clock::now()), apgas::illegal_operation);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <apgas/condition_variable.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/mutex.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/timed_waits.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::condition_variable;
using apgas::finish;
using apgas::test::expect_illegal;
using apgas::test::for_workers;
using apgas::test::random_limit;
using apgas::test::run_tasks;
using apgas::test::scaled;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using lock = std::unique_lock<apgas::mutex>;

TEST(ConditionVariable, PassesValuesBetweenTasks) {
  for_workers([] {
    apgas::mutex m;
    condition_variable changed;
    std::vector<int> values;  // guarded by m
    const int each = scaled(300, 50);
    int taken = 0;
    finish([&] {
      for (int t = 0; t < 4; ++t) {
        async([&] {
          for (int i = 0; i < each; ++i) {
            lock hold(m);
            changed.wait(hold, [&] { return !values.empty(); });
            EXPECT_TRUE(hold.owns_lock());
            taken += values.back();
            values.pop_back();
          }
        });
        async([&] {
          for (int i = 0; i < each; ++i) {
            const lock hold(m);
            values.push_back(1);
            changed.notify_one();
          }
        });
      }
    });
    EXPECT_EQ(taken, 4 * each);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(ConditionVariable, TakesAPredicateThatIsCalledAsAnLvalueOnly) {
  run_tasks(1, [] {
    struct third_time {
      int calls = 0;
      bool operator()() & { return ++calls == 3; }
    };
    apgas::mutex m;
    condition_variable changed;
    lock hold(m);
    EXPECT_FALSE(changed.wait_for(hold, 1ms, third_time{}));
    changed.wait(hold, third_time{2});
  });
}

TEST(ConditionVariable, NotifiesInOrder) {
  run_tasks(1, [] {
    apgas::mutex m;
    condition_variable changed;
    std::vector<int> order;
    int arrived = 0;
    finish([&] {
      for (int i = 0; i < 20; ++i) {
        async([&, i] {
          lock hold(m);
          ++arrived;
          changed.wait(hold);
          order.push_back(i);
        });
        while (arrived <= i) apgas::yield();  // with one worker, the task waits by then
      }
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(order.size(), i) << "one task for each notification";
        changed.notify_one();
        for (int k = 0; k < 5; ++k) apgas::yield();
      }
    });
    EXPECT_TRUE(std::ranges::is_sorted(order));
    changed.notify_one();  // no effect: nobody waits, and no later wait sees it
    lock hold(m);
    EXPECT_EQ(changed.wait_for(hold, 1ms), std::cv_status::timeout);
  });
}

TEST(ConditionVariable, NotifiesAllTasks) {
  for_workers([] {
    apgas::mutex m;
    condition_variable changed;
    bool open = false;  // guarded by m
    std::atomic<int> through{0};
    finish([&] {
      for (int i = 0; i < 50; ++i) {
        async([&] {
          lock hold(m);
          while (!open) changed.wait(hold);
          ++through;
        });
      }
      apgas::yield();
      {
        const lock hold(m);
        open = true;
      }
      changed.notify_all();
    });
    EXPECT_EQ(through, 50);
  });
}

// Calls f() under m when `waits` is true, which another task sets before it waits for a condition
// variable with m.
template <class F>
void when_it_waits(apgas::mutex& m, const bool& waits, F f) {
  for (;;) {
    {
      const lock hold(m);
      if (waits) return f();
    }
    apgas::yield();
  }
}

TEST(ConditionVariable, ForeignThreadsAndCriticalSectionsMayNotify) {
  run_tasks(2, [] {
    apgas::mutex m;
    condition_variable changed;
    const auto notify = [&] {
      changed.notify_one();
      changed.notify_all();
    };
    for (const bool foreign : {true, false}) {
      bool waits = false;  // guarded by m
      bool open = false;   // guarded by m
      finish([&] {
        async([&] {
          lock hold(m);
          waits = true;
          while (!open) EXPECT_EQ(changed.wait_for(hold, 1h), std::cv_status::no_timeout);
        });
        when_it_waits(m, waits, [&] { open = true; });
        if (foreign) {
          std::thread(notify).join();
        } else {
          apgas::atomic(notify);
        }
      });
    }
  });
}

TEST(ConditionVariable, MayBeDestroyedByTheTaskThatWasNotified) {
  for_workers([] {
    for (int round = 0; round < scaled(200, 30); ++round) {
      apgas::mutex m;
      auto changed = std::make_unique<condition_variable>();
      bool waits = false;  // guarded by m
      finish([&] {
        async([&] {
          lock hold(m);
          waits = true;
          changed->wait(hold);
          changed.reset();  // notify_one() may not have returned yet
        });
        condition_variable& notified = *changed;
        when_it_waits(m, waits, [] {});
        notified.notify_one();
      });
    }
  });
}

TEST(ConditionVariable, ReturnsTheResultsOfStd) {
  for_workers([] {
    apgas::mutex m;
    condition_variable changed;
    lock hold(m);
    const auto begun = steady_clock::now();
    EXPECT_EQ(changed.wait_for(hold, 2ms), std::cv_status::timeout);
    EXPECT_GE(steady_clock::now() - begun, 2ms);
    EXPECT_TRUE(hold.owns_lock());
    EXPECT_FALSE(m.try_lock()) << "locked again";
    EXPECT_EQ(changed.wait_for(hold, -1s), std::cv_status::timeout);
    EXPECT_FALSE(m.try_lock());
    EXPECT_EQ(changed.wait_until(hold, steady_clock::now() - 1s), std::cv_status::timeout);
    EXPECT_EQ(changed.wait_until(hold, system_clock::now() + 1ms), std::cv_status::timeout);
    int calls = 0;
    const auto is_false = [&] { return ++calls < 0; };
    const auto is_true = [&] { return ++calls > 0; };
    EXPECT_TRUE(changed.wait_for(hold, 0s, is_true));
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(changed.wait_for(hold, 1ms, is_false));
    EXPECT_EQ(calls, 3) << "before the wait and after it";
    EXPECT_FALSE(changed.wait_until(hold, steady_clock::now() - 1s, is_false));
    EXPECT_TRUE(changed.wait_until(hold, system_clock::now() - 1s, is_true));
    finish([&] {
      bool set = false;
      async([&] {
        const lock other(m);
        set = true;
        changed.notify_all();
      });
      EXPECT_TRUE(changed.wait_for(hold, 1h, [&] { return set; }));
      set = false;
      async([&] {
        const lock other(m);
        set = true;
        changed.notify_all();
      });
      EXPECT_TRUE(changed.wait_until(hold, steady_clock::time_point::max(), [&] { return set; }));
      async([&] {
        const lock other(m);
        changed.notify_one();
      });
      EXPECT_EQ(changed.wait_until(hold, system_clock::now() + 1h), std::cv_status::no_timeout);
    });
  });
}

// A loop over waits whose time is over lets other tasks make the condition true.
TEST(ConditionVariable, AWaitWithoutTimeLetsOthersRun) {
  run_tasks(1, [] {
    apgas::mutex m;
    condition_variable changed;
    bool set = false;
    finish([&] {
      async([&] {
        const lock hold(m);
        set = true;
      });
      lock hold(m);
      while (!set) EXPECT_EQ(changed.wait_for(hold, 0s), std::cv_status::timeout);
    });
  });
}

// Each notification ends the wait of exactly one task, although many tasks time out meanwhile. A
// task without a limit is always in the queue when the notification is given.
TEST(ConditionVariable, EveryNotificationEndsOneWait) {
  for_workers([] {
    apgas::mutex m;
    condition_variable changed;
    const int rounds = scaled(200, 40);
    int begun = 0;      // guarded by m: tasks without a limit that wait
    int ended = 0;      // guarded by m: waits that a notification has ended
    bool stop = false;  // guarded by m
    finish([&] {
      for (int t = 0; t < 3; ++t) {
        async([&] {
          lock hold(m);
          ++begun;
          while (!stop) {
            changed.wait(hold);
            if (!stop) ++ended;
          }
        });
      }
      for (int t = 0; t < 12; ++t) {
        async([&, t] {
          random_limit limit(t);
          lock hold(m);
          while (!stop) {
            const auto result = changed.wait_for(hold, limit());
            if (!stop && result == std::cv_status::no_timeout) ++ended;
          }
        });
      }
      for (bool all = false; !all;) {
        apgas::yield();
        const lock hold(m);
        all = begun == 3;
      }
      const auto give_up = steady_clock::now() + 20s;
      for (int given = 1; given <= rounds; ++given) {
        changed.notify_one();
        for (bool waits = true; waits;) {
          apgas::yield();
          const lock hold(m);
          waits = ended < given && steady_clock::now() < give_up;
        }
      }
      const lock hold(m);
      EXPECT_EQ(ended, rounds);
      stop = true;
      changed.notify_all();
    });
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(ConditionVariable, APredicateMayThrow) {
  run_tasks(2, [] {
    apgas::mutex m;
    condition_variable changed;
    lock hold(m);
    const auto throws = [&]() -> bool { throw std::domain_error("predicate"); };
    EXPECT_THROW(changed.wait(hold, throws), std::domain_error);
    EXPECT_THROW(changed.wait_for(hold, 1h, throws), std::domain_error);
    EXPECT_THROW(changed.wait_until(hold, system_clock::now(), throws), std::domain_error);
    int calls = 0;
    EXPECT_THROW(changed.wait_for(hold, 1ms,
                                  [&] {
                                    if (++calls == 2) throw std::domain_error("after the wait");
                                    return false;
                                  }),
                 std::domain_error);
    EXPECT_TRUE(hold.owns_lock());
    EXPECT_FALSE(m.try_lock()) << "the mutex is locked";
  });
}

TEST(ConditionVariable, Misuse) {
  apgas::mutex m;
  condition_variable changed;
  const auto waits = [&](lock& l, const auto& suffix) {
    const auto now = steady_clock::now();
    const auto no = [] { return false; };
    expect_illegal("condition_variable::wait" + suffix, [&] { return (changed.wait(l), 0); });
    expect_illegal("condition_variable::wait" + suffix, [&] { return (changed.wait(l, no), 0); });
    expect_illegal("condition_variable::wait_for" + suffix,
                   [&] { return changed.wait_for(l, 1s); });
    expect_illegal("condition_variable::wait_for" + suffix,
                   [&] { return changed.wait_for(l, 0s, no); });
    expect_illegal("condition_variable::wait_until" + suffix,
                   [&] { return changed.wait_until(l, now); });
    expect_illegal("condition_variable::wait_until" + suffix,
                   [&] { return changed.wait_until(l, now, no); });
  };
  EXPECT_TRUE(m.try_lock());
  lock outside(m, std::adopt_lock);
  waits(outside, std::string(" "));
  outside.unlock();
  run_tasks(1, [&] {
    const std::string remedy = " was given a lock that does not own its mutex; lock it first";
    lock not_locked(m, std::defer_lock);
    waits(not_locked, remedy);
    lock empty;
    waits(empty, remedy);
    lock hold(m);
    apgas::test::as_if_atomic([&] { waits(hold, std::string(" ")); });
    EXPECT_FALSE(m.try_lock()) << "a wait that is refused does not release the mutex";
  });
}

}  // namespace

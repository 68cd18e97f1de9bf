// SPDX-License-Identifier: Apache-2.0

// The waits with a time limit of mutex, semaphore, latch and channel. No test measures time: a
// deadline has passed before the call, or is so late that the event comes first, or races with the
// event; then each permit, value and ownership must still be accounted for exactly once.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/channel.hpp>
#include <apgas/errors.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/timed_waits.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::finish;
using apgas::illegal_operation;
using apgas::test::expect_illegal;
using apgas::test::for_workers;
using apgas::test::random_limit;
using apgas::test::run_tasks;
using apgas::test::scaled;
using std::chrono::microseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

TEST(TimedWaits, APassedDeadlineOnlyTries) {
  run_tasks(1, [] {
    apgas::semaphore permits(1);
    EXPECT_TRUE(permits.try_acquire_for(0s));
    EXPECT_FALSE(permits.try_acquire_for(0s));
    EXPECT_FALSE(permits.try_acquire_for(-1h));
    EXPECT_FALSE(permits.try_acquire_until(steady_clock::now() - 1s));
    EXPECT_FALSE(permits.try_acquire_until(system_clock::time_point::min()));
    permits.release();
    EXPECT_TRUE(permits.try_acquire_until(system_clock::now() - 1h));

    apgas::mutex m;
    EXPECT_TRUE(m.try_lock_for(-1s));
    EXPECT_FALSE(m.try_lock_for(0s));
    EXPECT_FALSE(m.try_lock_until(steady_clock::now()));
    m.unlock();
    EXPECT_TRUE(m.try_lock_until(system_clock::now() - 1s));
    m.unlock();

    apgas::latch l(1);
    EXPECT_FALSE(l.try_wait_for(0s));
    EXPECT_FALSE(l.try_wait_until(system_clock::now() - 1s));
    l.count_down();
    EXPECT_TRUE(l.try_wait_for(-1s));
    EXPECT_TRUE(l.try_wait_until(steady_clock::time_point::min()));

    apgas::channel<int> c(1);
    EXPECT_FALSE(c.try_receive_for(0s));
    EXPECT_FALSE(c.try_receive_until(steady_clock::now()));
    EXPECT_TRUE(c.try_send_for(1, 0s));
    EXPECT_FALSE(c.try_send_for(2, 0s));
    EXPECT_FALSE(c.try_send_until(3, system_clock::now() - 1s));
    EXPECT_EQ(c.try_receive_for(-1h), 1);
    EXPECT_TRUE(c.try_send_until(4, steady_clock::now() - 1s));
    EXPECT_EQ(c.try_receive_until(system_clock::now() - 1s), 4);
  });
}

TEST(TimedWaits, ATaskThatTimesOutLeavesNothingBehind) {
  for_workers([] {
    apgas::semaphore permits(0);
    const auto begun = steady_clock::now();
    EXPECT_FALSE(permits.try_acquire_for(2ms));
    EXPECT_GE(steady_clock::now() - begun, 2ms);
    const auto end = system_clock::now() + 2ms;
    EXPECT_FALSE(permits.try_acquire_until(end));
    EXPECT_GE(system_clock::now(), end);
    permits.release(2);
    EXPECT_TRUE(permits.try_acquire()) << "no permit was handed to the waits that are over";
    EXPECT_TRUE(permits.try_acquire());

    apgas::mutex m;
    m.lock();
    EXPECT_FALSE(m.try_lock_for(1ms));
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();

    apgas::latch l(1);
    EXPECT_FALSE(l.try_wait_for(1ms));
    l.count_down();
    EXPECT_TRUE(l.try_wait_for(1ms));

    apgas::channel<int> c(1);
    EXPECT_FALSE(c.try_receive_for(1ms));
    EXPECT_TRUE(c.try_send_for(1, 1ms));
    EXPECT_FALSE(c.try_send_until(2, steady_clock::now() + 1ms));
    EXPECT_EQ(c.try_receive_for(1ms), 1) << "the value that found no room was not sent";
    EXPECT_FALSE(c.try_receive());
  });
}

TEST(TimedWaits, AnEventBeforeTheDeadlineSucceeds) {
  for_workers([] {
    apgas::semaphore permits(0);
    apgas::mutex m;
    apgas::latch l(1);
    apgas::channel<std::unique_ptr<int>> empty(1);
    apgas::channel<int> full(1);
    full.send(1);
    m.lock();
    std::atomic<int> succeeded{0};
    finish([&] {
      async([&] { succeeded += permits.try_acquire_for(1h) ? 1 : 0; });
      async([&] { succeeded += permits.try_acquire_until(steady_clock::now() + 1h) ? 1 : 0; });
      async([&] { succeeded += permits.try_acquire_for(std::chrono::hours::max()) ? 1 : 0; });
      async([&] {
        const std::unique_lock hold(m, 1h);
        succeeded += hold ? 1 : 0;
      });
      async([&] {
        const std::unique_lock hold(m, system_clock::now() + 1h);
        succeeded += hold ? 1 : 0;
      });
      async([&] { succeeded += l.try_wait_for(1h) ? 1 : 0; });
      async([&] { succeeded += l.try_wait_until(steady_clock::time_point::max()) ? 1 : 0; });
      async([&] { succeeded += *empty.try_receive_for(1h).value() == 5 ? 1 : 0; });
      async([&] { succeeded += full.try_send_for(2, 1h) ? 1 : 0; });
      for (int i = 0; i < 20; ++i) apgas::yield();
      permits.release(3);
      m.unlock();
      l.count_down();
      empty.send(std::make_unique<int>(5));
      EXPECT_EQ(full.receive(), 1);
    });
    EXPECT_EQ(succeeded, 9);
    EXPECT_EQ(full.receive(), 2);
    EXPECT_FALSE(permits.try_acquire());
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

// Tasks that time out leave the middle, the front and the end of the queue. The others keep their
// order.
TEST(TimedWaits, TheOrderOfTheOthersStays) {
  run_tasks(1, [] {
    apgas::semaphore permits(0);
    std::vector<int> order;
    int arrived = 0;
    int timed_out = 0;
    finish([&] {
      for (int i = 0; i < 30; ++i) {
        async([&, i] {
          ++arrived;
          if (i % 3 != 1) {
            timed_out += permits.try_acquire_for(1ms) ? 0 : 1;
          } else {
            permits.acquire();
            order.push_back(i);
          }
        });
        while (arrived <= i) apgas::yield();  // with one worker, the task waits by then
      }
      while (timed_out < 20) apgas::sleep_for(1ms);
      permits.release(10);
    });
    EXPECT_EQ(order.size(), 10U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
  });
}

TEST(TimedWaits, EveryPermitIsAccountedForOnce) {
  for_workers([] {
    const int tasks = scaled(64, 24);
    const int rounds = scaled(100, 20);
    apgas::semaphore permits(2);
    std::atomic<int> holders{0};
    std::atomic<int> served{0};
    std::atomic<int> timed_out{0};
    finish([&] {
      for (int t = 0; t < tasks; ++t) {
        async([&, t] {
          random_limit limit(t);
          for (int i = 0; i < rounds; ++i) {
            if (!permits.try_acquire_for(limit())) {
              ++timed_out;
              continue;
            }
            EXPECT_LE(++holders, 2);
            ++served;
            apgas::yield();
            --holders;
            permits.release();
          }
        });
      }
    });
    EXPECT_EQ(served + timed_out, tasks * rounds);
    EXPECT_GT(served, 0);
    EXPECT_TRUE(permits.try_acquire());
    EXPECT_TRUE(permits.try_acquire());
    EXPECT_FALSE(permits.try_acquire()) << "no permit was lost, and none was made";
  });
}

TEST(TimedWaits, AMutexHasOneOwnerAndIsFreeAtTheEnd) {
  for_workers([] {
    const int tasks = scaled(48, 20);
    const int rounds = scaled(100, 20);
    apgas::mutex m;
    std::int64_t inside = 0;  // guarded by m
    std::atomic<std::int64_t> owners{0};
    finish([&] {
      for (int t = 0; t < tasks; ++t) {
        async([&, t] {
          random_limit limit(t);
          for (int i = 0; i < rounds; ++i) {
            if (t % 4 == 0) {
              m.lock();
            } else if (!m.try_lock_for(limit())) {
              continue;
            }
            const std::lock_guard hold(m, std::adopt_lock);
            const std::int64_t before = inside;
            if (i % 3 == 0) apgas::yield();
            inside = before + 1;
            ++owners;
          }
        });
      }
    });
    EXPECT_EQ(inside, owners);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(TimedWaits, ALatchReleasesTheTasksThatStillWait) {
  for_workers([] {
    const int rounds = scaled(100, 20);
    for (int round = 0; round < rounds; ++round) {
      apgas::latch l(1);
      finish([&] {
        for (int t = 0; t < 10; ++t) {
          async([&, t] {
            random_limit limit(round * 10 + t);
            if (!l.try_wait_for(limit())) l.wait();
            EXPECT_TRUE(l.try_wait());
          });
        }
        apgas::sleep_for(microseconds(round % 40));
        l.count_down();
      });
    }
  });
}

TEST(TimedWaits, EveryValueOfAChannelArrivesOnce) {
  for_workers([] {
    const int tasks = 8;
    const int rounds = scaled(300, 40);
    apgas::channel<int> c(2);
    std::atomic<std::int64_t> sent{0};
    std::atomic<std::int64_t> received{0};
    finish([&] {
      finish([&] {
        for (int t = 0; t < tasks; ++t) {
          async([&, t] {
            random_limit limit(t);
            for (int i = 1; i <= rounds; ++i) {
              if (c.try_send_for(i, limit())) sent += i;
            }
          });
          async([&, t] {
            random_limit limit(t + 100);
            for (int i = 1; i <= rounds; ++i) {
              if (const auto value = c.try_receive_for(limit())) received += *value;
            }
          });
        }
      });
      c.close();
      while (const auto value = c.receive()) received += *value;
    });
    EXPECT_EQ(sent, received);
    EXPECT_GT(received, 0);
  });
}

TEST(TimedWaits, ClosingAChannelEndsThem) {
  run_tasks(2, [] {
    apgas::channel<int> full(1);
    apgas::channel<int> empty(1);
    full.send(1);
    finish([&] {
      for (int i = 0; i < 5; ++i) {
        async(
            [&] { EXPECT_THROW(static_cast<void>(full.try_send_for(2, 1h)), illegal_operation); });
        async([&] { EXPECT_FALSE(empty.try_receive_for(1h)); });
      }
      for (int i = 0; i < 20; ++i) apgas::yield();
      full.close();
      empty.close();
    });
    EXPECT_EQ(full.receive(), 1);
  });
}

TEST(TimedWaits, AreRefusedInCriticalSectionsAndOutsideTasks) {
  apgas::semaphore permits(9);
  apgas::mutex m;
  apgas::latch l(0);
  apgas::channel<int> c(9);
  const auto refused = [&] {
    const auto now = steady_clock::now();
    expect_illegal("semaphore::try_acquire_for ", [&] { return permits.try_acquire_for(1s); });
    expect_illegal("semaphore::try_acquire_until ", [&] { return permits.try_acquire_until(now); });
    expect_illegal("mutex::try_lock_for ", [&] { return m.try_lock_for(1s); });
    expect_illegal("mutex::try_lock_until ", [&] { return m.try_lock_until(now); });
    expect_illegal("latch::try_wait_for ", [&] { return l.try_wait_for(1s); });
    expect_illegal("latch::try_wait_until ", [&] { return l.try_wait_until(now); });
    expect_illegal("channel::try_send_for ", [&] { return c.try_send_for(1, 1s); });
    expect_illegal("channel::try_send_until ", [&] { return c.try_send_until(1, now); });
    expect_illegal("channel::try_receive_for ", [&] { return c.try_receive_for(1s); });
    expect_illegal("channel::try_receive_until ", [&] { return c.try_receive_until(now); });
  };
  refused();
  run_tasks(1, [&] {
    apgas::test::as_if_atomic(refused);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    EXPECT_FALSE(c.try_receive()) << "no value was sent";
    for (int i = 0; i < 9; ++i) EXPECT_TRUE(permits.try_acquire());
  });
}

}  // namespace

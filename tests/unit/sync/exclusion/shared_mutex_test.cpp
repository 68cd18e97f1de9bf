// SPDX-License-Identifier: Apache-2.0
#include <apgas/shared_mutex.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/latch.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/timed_waits.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::finish;
using apgas::shared_mutex;
using apgas::test::expect_illegal;
using apgas::test::for_workers;
using apgas::test::random_limit;
using apgas::test::run_tasks;
using apgas::test::scaled;

// Expects that no task holds or waits for the mutex.
void expect_free(shared_mutex& m) {
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(SharedMutex, WritersExcludeAllAndReadersExcludeWriters) {
  for_workers([] {
    shared_mutex m;
    std::int64_t written = 0;  // guarded by m
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    const int tasks = scaled(300, 60);
    finish([&] {
      for (int i = 0; i < tasks; ++i) {
        async([&, i] {
          if (i % 4 == 0) {
            const std::unique_lock hold(m);
            EXPECT_EQ(++writers, 1);
            EXPECT_EQ(readers, 0);
            const std::int64_t before = written;
            if (i % 8 == 0) apgas::yield();
            written = before + 1;
            --writers;
          } else {
            const std::shared_lock hold(m);
            ++readers;
            EXPECT_EQ(writers, 0);
            if (i % 3 == 0) apgas::yield();
            --readers;
          }
        });
      }
    });
    EXPECT_EQ(written, tasks / 4);
    expect_free(m);
  });
}

TEST(SharedMutex, ReadersShareIt) {
  run_tasks(2, [] {
    shared_mutex m;
    apgas::latch together(8);
    finish([&] {
      for (int i = 0; i < 8; ++i) {
        async([&] {
          const std::shared_lock hold(m);
          EXPECT_FALSE(m.try_lock());
          together.arrive_and_wait();  // ends only if all hold the mutex at a time
        });
      }
    });
    expect_free(m);
  });
}

// Makes tasks that wait for a held mutex in the order of `kinds`: w for a writer, r for a reader.
// Returns the order in which they acquired it; | separates the groups that held it at a time. With
// one worker, a task that calls yield() lets all tasks run that were resumed.
std::string order_of(shared_mutex& m, const std::string& kinds) {
  std::string order;
  int inside = 0;
  m.lock();
  finish([&] {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      bool arrived = false;
      async([&order, &inside, &m, &arrived, kind = kinds[i]] {
        arrived = true;  // not used after that
        kind == 'w' ? m.lock() : m.lock_shared();
        if (inside++ == 0 && !order.empty()) order += '|';
        order += kind;
        for (int k = 0; k < 5; ++k) apgas::yield();
        --inside;
        kind == 'w' ? m.unlock() : m.unlock_shared();
      });
      while (!arrived) apgas::yield();
    }
    m.unlock();
  });
  return order;
}

TEST(SharedMutex, IsServedInOrderWithGroupsOfReaders) {
  run_tasks(1, [] {
    shared_mutex m;
    EXPECT_EQ(order_of(m, "rrwrrrwwr"), "rr|w|rrr|w|w|r");
    EXPECT_EQ(order_of(m, "wrwr"), "w|r|w|r");
    expect_free(m);
  });
}

// A reader does not overtake a writer that waits, even if other readers hold the mutex.
TEST(SharedMutex, AReaderQueuesBehindAWriter) {
  run_tasks(1, [] {
    shared_mutex m;
    m.lock_shared();
    EXPECT_TRUE(m.try_lock_shared());
    int arrived = 0;
    bool written = false;
    finish([&] {
      async([&] {
        ++arrived;
        m.lock();
        written = true;
        m.unlock();
      });
      while (arrived < 1) apgas::yield();
      EXPECT_FALSE(m.try_lock_shared());
      EXPECT_FALSE(m.try_lock_shared_for(0s));
      async([&] {
        ++arrived;
        m.lock_shared();
        EXPECT_TRUE(written);
        m.unlock_shared();
      });
      while (arrived < 2) apgas::yield();
      m.unlock_shared();
      for (int i = 0; i < 5; ++i) apgas::yield();
      EXPECT_FALSE(written) << "the mutex is still shared";
      m.unlock_shared();
    });
    expect_free(m);
  });
}

TEST(SharedMutex, NeitherReadersNorWritersStarve) {
  for_workers([] {
    for (const bool writer : {false, true}) {
      shared_mutex m;
      std::atomic<bool> stop{false};
      finish([&] {
        for (int i = 0; i < 4; ++i) {
          async([&] {
            while (!stop) {
              writer ? m.lock_shared() : m.lock();
              apgas::yield();
              writer ? m.unlock_shared() : m.unlock();
            }
          });
        }
        for (int i = 0; i < 50; ++i) {
          writer ? m.lock() : m.lock_shared();
          apgas::yield();
          writer ? m.unlock() : m.unlock_shared();
        }
        stop = true;
      });
      expect_free(m);
    }
  });
}

// A writer that times out lets the readers in that waited behind it.
TEST(SharedMutex, AWriterThatTimesOutReleasesTheReadersBehindIt) {
  for_workers([] {
    shared_mutex m;
    m.lock_shared();
    finish([&] {
      std::atomic<bool> waits{false};
      async([&] {
        waits = true;
        EXPECT_FALSE(m.try_lock_for(2ms));
      });
      while (!waits) apgas::yield();
      for (int i = 0; i < 3; ++i) {
        async([&] {
          m.lock_shared();
          m.unlock_shared();
        });
      }
    });  // ends although the mutex is still shared
    m.unlock_shared();
    expect_free(m);
  });
}

TEST(SharedMutex, DeadlinesThatHavePassedAndGenerousOnes) {
  for_workers([] {
    shared_mutex m;
    const auto past = std::chrono::system_clock::now() - 1s;
    EXPECT_TRUE(m.try_lock_for(-1s));
    EXPECT_FALSE(m.try_lock_for(0s));
    EXPECT_FALSE(m.try_lock_until(past));
    EXPECT_FALSE(m.try_lock_shared_for(0s));
    EXPECT_FALSE(m.try_lock_shared_until(past));
    EXPECT_FALSE(m.try_lock_for(1ms));
    EXPECT_FALSE(m.try_lock_shared_for(1ms));
    std::atomic<int> succeeded{0};
    finish([&] {
      async([&] {
        const std::unique_lock hold(m, 1h);
        succeeded += hold ? 1 : 0;
      });
      async([&] {
        const std::shared_lock hold(m, 1h);
        succeeded += hold ? 1 : 0;
      });
      async([&] {
        const std::unique_lock hold(m, std::chrono::steady_clock::time_point::max());
        succeeded += hold ? 1 : 0;
      });
      async([&] {
        const std::shared_lock hold(m, std::chrono::system_clock::now() + 1h);
        succeeded += hold ? 1 : 0;
      });
      for (int i = 0; i < 20; ++i) apgas::yield();
      m.unlock();
    });
    EXPECT_EQ(succeeded, 4);
    EXPECT_TRUE(m.try_lock_shared_until(past));
    m.unlock_shared();
    expect_free(m);
  });
}

TEST(SharedMutex, EveryOwnershipIsAccountedForOnce) {
  for_workers([] {
    const int tasks = scaled(48, 20);
    const int rounds = scaled(100, 20);
    shared_mutex m;
    std::int64_t inside = 0;  // guarded by m
    std::atomic<std::int64_t> owners{0};
    std::atomic<int> readers{0};
    finish([&] {
      for (int t = 0; t < tasks; ++t) {
        async([&, t] {
          random_limit limit(t);
          for (int i = 0; i < rounds; ++i) {
            if (t % 3 == 0) {
              if (!m.try_lock_for(limit())) continue;
              EXPECT_EQ(readers, 0);
              const std::int64_t before = inside;
              if (i % 3 == 0) apgas::yield();
              inside = before + 1;
              ++owners;
              m.unlock();
            } else {
              if (!m.try_lock_shared_for(limit())) continue;
              ++readers;
              if (i % 3 == 0) apgas::yield();
              --readers;
              m.unlock_shared();
            }
          }
        });
      }
    });
    EXPECT_EQ(inside, owners);
    expect_free(m);
  });
}

TEST(SharedMutex, Misuse) {
  shared_mutex m;
  const auto refused = [&] {
    const auto now = std::chrono::steady_clock::now();
    expect_illegal("shared_mutex::lock ", [&] { return (m.lock(), 0); });
    expect_illegal("shared_mutex::lock_shared ", [&] { return (m.lock_shared(), 0); });
    expect_illegal("shared_mutex::try_lock_for ", [&] { return m.try_lock_for(1s); });
    expect_illegal("shared_mutex::try_lock_until ", [&] { return m.try_lock_until(now); });
    expect_illegal("shared_mutex::try_lock_shared_for ", [&] { return m.try_lock_shared_for(1s); });
    expect_illegal("shared_mutex::try_lock_shared_until ",
                   [&] { return m.try_lock_shared_until(now); });
  };
  refused();
  run_tasks(1, [&] {
    apgas::test::as_if_atomic(refused);
    expect_illegal("with unlock_shared", [&] { return (m.unlock(), 0); });
    expect_illegal("with unlock", [&] { return (m.unlock_shared(), 0); });
    m.lock();
    expect_illegal("no task shared", [&] { return (m.unlock_shared(), 0); });
    m.unlock();
    m.lock_shared();
    expect_illegal("exclusively", [&] { return (m.unlock(), 0); });
    m.unlock_shared();
    expect_free(m);
  });
}

}  // namespace

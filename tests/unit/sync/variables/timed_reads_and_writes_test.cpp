// SPDX-License-Identifier: Apache-2.0

// The operations with a time limit of sync_var and single_var.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sync_var.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/timed_waits.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::finish;
using apgas::single_var;
using apgas::sync_var;
using apgas::test::expect_illegal;
using apgas::test::for_workers;
using apgas::test::random_limit;
using apgas::test::run_tasks;
using apgas::test::scaled;
using std::chrono::steady_clock;
using std::chrono::system_clock;

TEST(TimedSyncVar, APassedDeadlineOnlyTries) {
  run_tasks(1, [] {
    const auto past = system_clock::now() - 1s;
    sync_var<int> v;
    EXPECT_FALSE(v.try_read_fe_for(0s));
    EXPECT_FALSE(v.try_read_fe_until(past));
    EXPECT_FALSE(v.try_read_ff_for(-1s));
    EXPECT_FALSE(v.try_read_ff_until(past));
    EXPECT_FALSE(v.try_write_ff_for(1, 0s));
    EXPECT_FALSE(v.try_write_ff_until(1, past));
    EXPECT_FALSE(v.is_full());
    EXPECT_TRUE(v.try_write_ef_for(2, 0s));
    EXPECT_FALSE(v.try_write_ef_for(3, 0s));
    EXPECT_FALSE(v.try_write_ef_until(3, past));
    EXPECT_EQ(v.try_read_ff_for(0s), 2);
    EXPECT_EQ(v.try_read_ff_until(past), 2);
    EXPECT_TRUE(v.try_write_ff_for(4, -1s));
    EXPECT_TRUE(v.is_full());
    EXPECT_EQ(v.try_read_fe_for(0s), 4);
    EXPECT_FALSE(v.is_full());
    EXPECT_TRUE(v.try_write_ef_until(5, past));
    EXPECT_TRUE(v.try_write_ff_until(6, past));
    EXPECT_EQ(v.try_read_fe_until(past), 6);
    EXPECT_FALSE(v.is_full());
  });
}

TEST(TimedSyncVar, ATaskThatTimesOutLeavesTheVariableAsItIs) {
  for_workers([] {
    sync_var<int> v;
    EXPECT_FALSE(v.try_read_fe_for(1ms));
    EXPECT_FALSE(v.try_read_ff_until(system_clock::now() + 1ms));
    EXPECT_FALSE(v.try_write_ff_for(1, 1ms));
    v.write_ef(2);
    EXPECT_FALSE(v.try_write_ef_for(3, 1ms));
    EXPECT_EQ(v.read_fe(), 2);
    EXPECT_FALSE(v.is_full());
  });
}

TEST(TimedSyncVar, AnEventBeforeTheDeadlineSucceeds) {
  for_workers([] {
    sync_var<std::unique_ptr<int>> moves;
    sync_var<int> v;
    sync_var<int> full(1);
    finish([&] {
      async([&] { EXPECT_EQ(*moves.try_read_fe_for(1h).value(), 7); });
      async([&] { EXPECT_EQ(v.try_read_ff_for(std::chrono::hours::max()), 8); });
      async([&] { EXPECT_EQ(v.try_read_ff_until(steady_clock::time_point::max()), 8); });
      async([&] { EXPECT_TRUE(full.try_write_ef_until(2, system_clock::now() + 1h)); });
      for (int i = 0; i < 10; ++i) apgas::yield();
      EXPECT_TRUE(moves.try_write_ef_for(std::make_unique<int>(7), 1h));
      v.write_ef(8);
      EXPECT_EQ(full.read_fe(), 1);
    });
    EXPECT_EQ(full.read_fe(), 2);
    EXPECT_FALSE(moves.is_full());
  });
}

TEST(TimedSyncVar, EveryValueIsReadOnce) {
  for_workers([] {
    const int rounds = scaled(300, 40);
    sync_var<int> v;
    std::atomic<std::int64_t> written{0};
    std::atomic<std::int64_t> read{0};
    finish([&] {
      for (int t = 0; t < 8; ++t) {
        async([&, t] {
          random_limit limit(t);
          for (int i = 1; i <= rounds; ++i) {
            if (v.try_write_ef_for(i, limit())) written += i;
          }
        });
        async([&, t] {
          random_limit limit(t + 100);
          for (int i = 1; i <= rounds; ++i) {
            if (const auto value = v.try_read_fe_for(limit())) read += *value;
            static_cast<void>(v.try_read_ff_for(limit()));
          }
        });
      }
    });
    if (v.is_full()) read += v.read_fe();
    EXPECT_EQ(written, read);
    EXPECT_GT(read, 0);
  });
}

TEST(TimedSyncVar, AnExceptionWhileCopyingLeavesTheState) {
  struct fragile {
    fragile() = default;
    fragile(const fragile&) { throw std::domain_error("copy"); }
    fragile(fragile&&) = default;
    fragile& operator=(const fragile&) = default;
    fragile& operator=(fragile&&) = default;
  };
  run_tasks(1, [] {
    sync_var<fragile> v(fragile{});
    EXPECT_THROW(static_cast<void>(v.try_read_ff_for(1s)), std::domain_error);
    EXPECT_TRUE(v.is_full());
    EXPECT_TRUE(v.try_read_fe_for(1s).has_value());
    EXPECT_FALSE(v.is_full());
  });
}

TEST(TimedSingleVar, ReadsWithinTheLimit) {
  for_workers([] {
    single_var<int> v;
    EXPECT_EQ(v.try_read_ff_for(0s), nullptr);
    EXPECT_EQ(v.try_read_ff_for(1ms), nullptr);
    EXPECT_EQ(v.try_read_ff_until(system_clock::now() + 1ms), nullptr);
    finish([&] {
      async([&] { EXPECT_EQ(*v.try_read_ff_for(1h), 3); });
      async([&] { EXPECT_EQ(*v.try_read_ff_until(steady_clock::now() + 1h), 3); });
      for (int i = 0; i < 10; ++i) apgas::yield();
      v.write_ef(3);
    });
    EXPECT_EQ(v.try_read_ff_for(-1s), &v.read_ff());
    EXPECT_EQ(v.try_read_ff_until(steady_clock::time_point::min()), &v.read_ff());
  });
}

TEST(TimedSyncVar, RefusesCriticalSectionsAndForeignThreads) {
  sync_var<int> v(1);
  single_var<int> once;
  const auto refused = [&] {
    const auto now = steady_clock::now();
    expect_illegal("sync_var::try_read_fe_for ", [&] { return v.try_read_fe_for(1s); });
    expect_illegal("sync_var::try_read_fe_until ", [&] { return v.try_read_fe_until(now); });
    expect_illegal("sync_var::try_read_ff_for ", [&] { return v.try_read_ff_for(1s); });
    expect_illegal("sync_var::try_read_ff_until ", [&] { return v.try_read_ff_until(now); });
    expect_illegal("sync_var::try_write_ef_for ", [&] { return v.try_write_ef_for(2, 1s); });
    expect_illegal("sync_var::try_write_ef_until ", [&] { return v.try_write_ef_until(2, now); });
    expect_illegal("sync_var::try_write_ff_for ", [&] { return v.try_write_ff_for(2, 1s); });
    expect_illegal("sync_var::try_write_ff_until ", [&] { return v.try_write_ff_until(2, now); });
    expect_illegal("single_var::try_read_ff_for ", [&] { return once.try_read_ff_for(1s); });
    expect_illegal("single_var::try_read_ff_until ", [&] { return once.try_read_ff_until(now); });
  };
  refused();
  run_tasks(1, [&] {
    apgas::test::as_if_atomic(refused);
    EXPECT_EQ(v.read_fe(), 1);
  });
}

}  // namespace

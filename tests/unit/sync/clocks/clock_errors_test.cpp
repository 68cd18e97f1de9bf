// SPDX-License-Identifier: Apache-2.0

// Misuse of clocks: each error says what to do, loses no task and causes no hang.

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <apgas/atomic.hpp>
#include <apgas/clock.hpp>
#include <apgas/errors.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/yield.hpp>

#include "support/message_of.hpp"
#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clock_use_error;
using apgas::clocked;
using apgas::clocked_async;
using apgas::clocked_finish;
using apgas::finish;
using apgas::test::message_of;
using apgas::test::run_tasks;

void expect_refused(const std::string& message, const char* operation) {
  EXPECT_NE(message.find(operation), std::string::npos) << message;
  EXPECT_NE(message.find("registered"), std::string::npos) << message;
}

TEST(ClockErrors, UnregisteredUse) {
  run_tasks(2, [] {
    finish([] {
      auto c = clock::make();
      async([c] {
        expect_refused(message_of<clock_use_error>([&] { c.advance(); }), "clock::advance");
        expect_refused(message_of<clock_use_error>([&] { c.advance_eager(); }),
                       "clock::advance_eager");
        expect_refused(message_of<clock_use_error>([&] { c.resume(); }), "clock::resume");
        expect_refused(message_of<clock_use_error>([&] { c.drop(); }), "clock::drop");
        expect_refused(message_of<clock_use_error>([&] { static_cast<void>(c.phase()); }),
                       "clock::phase");
        expect_refused(message_of<clock_use_error>([&] { async(clocked(c), [] {}); }), "async");
        EXPECT_FALSE(c.registered());
      });
    });
    const clock empty;
    EXPECT_NE(message_of<clock_use_error>([&] { empty.advance(); }).find("make"),
              std::string::npos);
  });
}

TEST(ClockErrors, AfterDrop) {
  run_tasks(2, [] {
    auto c = clock::make();
    c.drop();
    const auto refused = [](const std::string& operation, auto f) {
      const std::string said = message_of<clock_use_error>(f);
      EXPECT_EQ(said.find(operation + " was called by a task that is not registered"), 0U) << said;
      EXPECT_NE(said.find("has dropped it"), std::string::npos) << said;
    };
    refused("clock::drop", [&] { c.drop(); });
    refused("clock::advance", [&] { c.advance(); });
    refused("clock::advance", [&] { c.advance_lazy(); });
    refused("clock::advance_eager", [&] { c.advance_eager(); });
    refused("clock::resume", [&] { c.resume(); });
    refused("clock::phase", [&] { static_cast<void>(c.phase()); });
    refused("async", [&] { async(clocked(c), [] {}); });
    refused("async_future", [&] { static_cast<void>(apgas::async_future(clocked(c), [] {})); });
    EXPECT_FALSE(c.registered());
    clock::resume_all();  // these have no effect
    clock::advance_all();
    clock::advance_all_eager();
  });
}

// The second drop must not deregister another task.
TEST(ClockErrors, DroppingTwiceCountsOnce) {
  run_tasks(1, [] {
    finish([] {
      const auto c = clock::make();
      int passed = 0;
      for (int i = 0; i < 3; ++i) {
        async(clocked(c), [&passed, c] {
          c.advance();
          ++passed;
        });
      }
      async(clocked(c), [c] {
        c.drop();
        for (int k = 0; k < 5; ++k) EXPECT_THROW(c.drop(), clock_use_error);
      });
      for (int k = 0; k < 100; ++k) apgas::yield();
      EXPECT_EQ(passed, 0) << "this task has not resumed";
      c.advance();
      for (int k = 0; k < 100 && passed != 3; ++k) apgas::yield();
      EXPECT_EQ(passed, 3);
    });
  });
}

TEST(ClockErrors, AFailedSpawnRegistersNothing) {
  run_tasks(2, [] {
    auto dropped = clock::make();
    dropped.drop();
    std::atomic<int> ran{0};
    finish([&] {
      auto d = clock::make();
      EXPECT_THROW(async(clocked(d, dropped), [&] { ++ran; }), clock_use_error);
      async(clocked(d), [&, d] {
        d.advance();
        ++ran;
      });
      d.advance();  // the failed spawn left no registration behind
    });
    EXPECT_EQ(ran, 1);
  });
}

TEST(ClockErrors, TheSameClockTwice) {
  run_tasks(2, [] {
    finish([] {
      auto c = clock::make();
      EXPECT_NE(message_of<clock_use_error>([&] { async(clocked(c, c), [] {}); }).find("twice"),
                std::string::npos);
      EXPECT_THROW(async(clocked(c), clocked(c), [] {}), clock_use_error);
      c.advance();
    });
  });
}

TEST(ClockErrors, ClockedAsyncOutsideClockedFinish) {
  run_tasks(2, [] {
    EXPECT_THROW(clocked_async([] {}), clock_use_error);
    clocked_finish([] { async([] { EXPECT_THROW(clocked_async([] {}), clock_use_error); }); });
    const auto c = clock::make();
    EXPECT_THROW(clocked_async([] {}), clock_use_error) << "the clock has a handle";
    c.drop();
  });
}

TEST(ClockErrors, InsideAnAtomicSection) {
  run_tasks(2, [] {
    auto c = clock::make();
    apgas::atomic([&] {
      EXPECT_THROW(c.advance(), apgas::illegal_operation);
      EXPECT_THROW(clock::advance_all(), apgas::illegal_operation);
      EXPECT_THROW(static_cast<void>(clock::make()), apgas::illegal_operation);
      EXPECT_THROW(async(clocked(c), [] {}), apgas::illegal_operation);
      c.resume();  // does not wait
    });
    c.advance();
    EXPECT_EQ(c.phase(), 1);
  });
}

TEST(ClockErrors, OutsideATask) {
  const clock c;
  EXPECT_THROW(c.advance(), apgas::illegal_operation);
  EXPECT_THROW(c.resume(), apgas::illegal_operation);
  EXPECT_THROW(static_cast<void>(clock::make()), apgas::illegal_operation);
}

TEST(ClockErrors, BranchesAreNotRegistered) {
  run_tasks(2, [] {
    auto c = clock::make();
    const auto use = [c] { return message_of<clock_use_error>([&] { c.advance(); }); };
    const auto [first, second] = apgas::fork_join(use, use);
    expect_refused(first, "clock::advance");
    expect_refused(second, "clock::advance");
    c.advance();
    EXPECT_EQ(c.phase(), 1);
  });
}

TEST(ClockErrors, AnErrorLosesNoRegistration) {
  run_tasks(2, [] {
    std::atomic<int> done{0};
    finish([&] {
      auto c = clock::make();
      for (int i = 0; i < 10; ++i) {
        async(clocked(c), [&, c] {
          c.advance();
          c.drop();
          EXPECT_THROW(c.advance(), clock_use_error);
          ++done;
        });
      }
      c.advance();
      c.advance();
    });
    EXPECT_EQ(done, 10);
  });
}

}  // namespace

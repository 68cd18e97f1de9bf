// SPDX-License-Identifier: Apache-2.0

// Clocks used wrongly: an error that says what to do, nothing lost, no hang.

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <apgas/atomic.hpp>
#include <apgas/clock.hpp>
#include <apgas/errors.hpp>
#include <apgas/fork_join.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clock_use_error;
using apgas::clocked;
using apgas::clocked_async;
using apgas::clocked_finish;
using apgas::finish;
using apgas::test::run_tasks;

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const clock_use_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

void expect_refused(const std::string& message, const char* operation) {
  EXPECT_NE(message.find(operation), std::string::npos) << message;
  EXPECT_NE(message.find("registered"), std::string::npos) << message;
}

TEST(ClockErrors, UnregisteredUse) {
  run_tasks(2, [] {
    finish([] {
      auto c = clock::make();
      async([c] {
        expect_refused(message_of([&] { c.advance(); }), "clock::advance");
        expect_refused(message_of([&] { c.advance_eager(); }), "clock::advance_eager");
        expect_refused(message_of([&] { c.resume(); }), "clock::resume");
        expect_refused(message_of([&] { c.drop(); }), "clock::drop");
        expect_refused(message_of([&] { static_cast<void>(c.phase()); }), "clock::phase");
        expect_refused(message_of([&] { async(clocked(c), [] {}); }), "async");
        EXPECT_FALSE(c.registered());
      });
    });
    const clock empty;
    EXPECT_NE(message_of([&] { empty.advance(); }).find("make"), std::string::npos);
  });
}

TEST(ClockErrors, AfterDrop) {
  run_tasks(2, [] {
    auto c = clock::make();
    c.drop();
    EXPECT_THROW(c.drop(), clock_use_error);
    EXPECT_THROW(c.advance(), clock_use_error);
    EXPECT_THROW(async(clocked(c), [] {}), clock_use_error);
  });
}

TEST(ClockErrors, AcquiredOutsideTheInnermostFinish) {
  run_tasks(2, [] {
    auto c = clock::make();
    std::atomic<int> ran{0};
    finish([&] {
      EXPECT_NE(message_of([&] { async(clocked(c), [] {}); }).find("innermost finish"),
                std::string::npos);
      c.advance();  // using it is fine
      auto d = clock::make();
      EXPECT_THROW(async(clocked(d, c), [&] { ++ran; }), clock_use_error);
      async(clocked(d), [&, d] {
        d.advance();
        ++ran;
      });
      d.advance();  // and nobody is left registered on it by the spawn that failed
    });
    EXPECT_EQ(ran, 1);
  });
}

TEST(ClockErrors, TheSameClockTwice) {
  run_tasks(2, [] {
    finish([] {
      auto c = clock::make();
      EXPECT_NE(message_of([&] { async(clocked(c, c), [] {}); }).find("twice"), std::string::npos);
      EXPECT_THROW(async(clocked(c), clocked(c), [] {}), clock_use_error);
      c.advance();
    });
  });
}

TEST(ClockErrors, ClockedAsyncOutsideClockedFinish) {
  run_tasks(2, [] {
    EXPECT_THROW(clocked_async([] {}), clock_use_error);
    clocked_finish([] {
      finish([] { EXPECT_THROW(clocked_async([] {}), clock_use_error); });
      async([] { EXPECT_THROW(clocked_async([] {}), clock_use_error); });
    });
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
    const auto use = [c] { return message_of([&] { c.advance(); }); };
    const auto [first, second] = apgas::fork_join(use, use);
    expect_refused(first, "clock::advance");
    expect_refused(second, "clock::advance");
    c.advance();
    EXPECT_EQ(c.phase(), 1);
  });
}

TEST(ClockErrors, AnErrorLosesNothing) {
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

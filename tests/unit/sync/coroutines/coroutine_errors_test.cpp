// SPDX-License-Identifier: Apache-2.0

// What is refused: a task that is awaited or started twice, an empty one, a start outside a task or
// in a critical section. A task that is never started is destroyed.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <apgas/atomic.hpp>
#include <apgas/coroutine.hpp>
#include <apgas/errors.hpp>
#include <apgas/finish.hpp>
#include <apgas/promise.hpp>

#include "support/message_of.hpp"
#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::async_future;
using apgas::illegal_operation;
using apgas::sync_wait;
using apgas::task;

task<int> one_number(int n) { co_return n; }
task<> hold(std::shared_ptr<int> witness) {
  ++*witness;
  co_return;
}
task<int> await_twice() {
  task<int> once = one_number(1);
  const int first = co_await once;
  co_return first + co_await once;
}
task<int> await_moved() {
  task<int> from = one_number(1);
  const task<int> to = std::move(from);
  co_return co_await from;  // NOLINT(bugprone-use-after-move): this is what is tested
}
task<int> await_empty_future() { co_return co_await apgas::future<int>(); }

TEST(CoroutineErrors, ATaskIsAwaitedOnce) {
  apgas::test::run_tasks(1, [] {
    const std::string text =
        apgas::test::message_of<illegal_operation>([] { sync_wait(await_twice()); });
    EXPECT_NE(text.find("co_await was given an empty task"), std::string::npos) << text;
    EXPECT_THROW(sync_wait(await_moved()), illegal_operation);
    EXPECT_THROW(sync_wait(await_empty_future()), illegal_operation);
  });
}

TEST(CoroutineErrors, ATaskIsStartedOnce) {
  apgas::test::run_tasks(1, [] {
    task<int> t = one_number(1);
    EXPECT_TRUE(t.valid());
    EXPECT_EQ(sync_wait(std::move(t)), 1);
    EXPECT_FALSE(t.valid());  // NOLINT(bugprone-use-after-move): this is what is tested
    EXPECT_THROW(async(std::move(t)), illegal_operation);
    EXPECT_THROW(async_future(std::move(t)), illegal_operation);
    EXPECT_THROW(sync_wait(task<int>()), illegal_operation);
  });
}

TEST(CoroutineErrors, ATaskThatIsNeverStartedIsDestroyed) {
  const auto witness = std::make_shared<int>(0);
  {
    const task<> unused = hold(witness);
    task<> replaced = hold(witness);
    EXPECT_EQ(witness.use_count(), 3);
    replaced = task<>();
    EXPECT_EQ(witness.use_count(), 2);
  }
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(*witness, 0);
}

TEST(CoroutineErrors, ATaskIsStartedInATask) {
  const auto witness = std::make_shared<int>(0);
  EXPECT_THROW(async(hold(witness)), illegal_operation);
  EXPECT_THROW(async_future(hold(witness)), illegal_operation);
  EXPECT_THROW(sync_wait(hold(witness)), illegal_operation);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(CoroutineErrors, ATaskIsNotStartedInACriticalSection) {
  apgas::test::run_tasks(1, [] {
    apgas::atomic([] {
      EXPECT_THROW(async(one_number(1)), illegal_operation);
      EXPECT_THROW(async_future(one_number(1)), illegal_operation);
      EXPECT_THROW(sync_wait(one_number(1)), illegal_operation);
    });
  });
}

// A coroutine of another type, which runs where it is called.
struct observed {
  static inline std::atomic<int> refusals{0};
  struct promise_type {
    static observed get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() {
      try {
        throw;
      } catch (const illegal_operation&) {
        ++refusals;
      }
    }
  };
};
observed await_here(apgas::future<int> awaited) { co_await awaited; }

TEST(CoroutineErrors, AFutureIsAwaitedInATask) {
  apgas::test::run_tasks(1, [] {
    const apgas::promise<int> promise;
    promise.set_value(1);
    observed::refusals = 0;
    std::thread([ready = promise.get_future()] { await_here(ready); }).join();
    EXPECT_EQ(observed::refusals, 1);
  });
}

}  // namespace

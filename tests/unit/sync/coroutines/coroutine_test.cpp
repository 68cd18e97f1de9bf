// SPDX-License-Identifier: Apache-2.0

// A task<T> returns values and exceptions to the coroutine that awaits it, needs no stack for a
// chain of awaiting coroutines, and runs as a task of its finish when it is started.

#include <apgas/coroutine.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/exceptions.hpp>
#include <apgas/finish.hpp>
#include <apgas/promise.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/task_local.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::async_future;
using apgas::finish;
using apgas::future;
using apgas::sync_wait;
using apgas::task;

class Coroutine : public testing::TestWithParam<int> {
 protected:
  template <class F>
  static void run(F f) {
    apgas::test::run_tasks(GetParam(), std::move(f));
  }
};
INSTANTIATE_TEST_SUITE_P(OnWorkers, Coroutine, testing::Values(1, 2, 4));

task<int> number(int n) { co_return n; }
task<int> sum(int a, int b) { co_return co_await number(a) + co_await number(b); }
task<> add_to(std::atomic<int>& total, int n) { total += co_await number(n); }
task<std::unique_ptr<int>> owned(int n) { co_return std::make_unique<int>(n); }
task<int&> refer_to(int& n) { co_return n; }
task<int> failing() {
  throw std::runtime_error("on purpose");
  co_return 0;
}

TEST_P(Coroutine, ReturnsWhatItWasGiven) {
  run([] {
    int n = 5;
    EXPECT_EQ(sync_wait(sum(3, 4)), 7);
    EXPECT_EQ(*sync_wait(owned(6)), 6);
    EXPECT_EQ(&sync_wait(refer_to(n)), &n);
    EXPECT_EQ(*async_future(owned(8)).get(), 8);
    EXPECT_EQ(&async_future(refer_to(n)).get(), &n);
  });
}

task<long> countdown(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await countdown(n - 1);
}
task<> loop_over(long n, long& total) {
  for (long i = 0; i < n; ++i) total += co_await number(1);
}

TEST_P(Coroutine, NeedsNoStackForAChainOfAwaitingCoroutines) {
  run([] {
    constexpr long depth = apgas::test::scaled(1'000'000, 100'000);
    EXPECT_EQ(sync_wait(countdown(depth)), depth);
    EXPECT_EQ(async_future(countdown(depth)).get(), depth);
    long total = 0;
    sync_wait(loop_over(depth, total));
    EXPECT_EQ(total, depth);
  });
}

task<int> recover() {
  try {
    co_return co_await failing();
  } catch (const std::runtime_error& e) {
    co_return static_cast<int>(std::string(e.what()).size());
  }
}

TEST_P(Coroutine, ThrowsToTheCoroutineThatAwaitsIt) {
  run([] {
    EXPECT_EQ(sync_wait(recover()), 10);
    EXPECT_THROW(sync_wait(failing()), std::runtime_error);
    EXPECT_THROW(async_future(failing()).get(), std::runtime_error);
  });
}

TEST_P(Coroutine, ThrowsToItsFinishIfItWasStarted) {
  run([] {
    try {
      finish([] {
        async(failing());
        async(apgas::name("bad"), failing());
      });
      ADD_FAILURE() << "finish threw nothing";
    } catch (const apgas::multiple_exceptions& e) {
      EXPECT_EQ(e.size(), 2U);
      int named = 0;
      for (const auto& one : e) named += one.describe().find("bad") != std::string::npos ? 1 : 0;
      EXPECT_EQ(named, 1);
    }
  });
}

TEST_P(Coroutine, RunsBeforeItsFinishEnds) {
  run([] {
    std::atomic<int> total{0};
    finish([&] {
      for (int i = 1; i <= 100; ++i) async(add_to(total, i));
    });
    EXPECT_EQ(total, 5050);
  });
}

task<int> after(future<int> first) {
  const int n = co_await first;
  apgas::yield();  // suspends the fiber
  co_return n + co_await first;
}

TEST_P(Coroutine, AwaitsAFuture) {
  run([] {
    const apgas::promise<int> set_later;
    const future<int> doubled = async_future(after(set_later.get_future()));
    apgas::yield();
    set_later.set_value(21);
    EXPECT_EQ(doubled.get(), 42);
    EXPECT_EQ(sync_wait(after(async_future([] {
                apgas::yield();
                return 4;
              }))),
              8);
  });
}

task<> count_when_ready(future<void> start, std::atomic<int>& count) {
  co_await start;
  ++count;
}

TEST_P(Coroutine, HoldsNoFiberWhileItWaits) {
  run([] {
    constexpr int many = apgas::test::scaled(10'000, 1'000);
    const apgas::promise<void> start;
    std::atomic<int> count{0};
    auto& scheduler = *apgas::sync::place_of(*apgas::scheduler::current_fiber()).task_scheduler;
    finish([&] {
      for (int i = 0; i < many; ++i) async(count_when_ready(start.get_future(), count));
      async([&] {
        for (int i = 0; i < 100; ++i) apgas::yield();
        start.set_value();
      });
    });
    EXPECT_EQ(count, many);
    // Each worker has a fiber or two of its own, whatever it runs.
    const int more = 2 * (apgas::test::workers_started(GetParam()) - GetParam());
    EXPECT_LT(scheduler.stats().fibers, 100U + static_cast<unsigned>(more));
  });
}

task<> fail_when_ready(future<int> broken) { co_await broken; }

TEST_P(Coroutine, ThrowsTheExceptionOfAFuture) {
  run([] {
    const apgas::promise<int> promise;
    try {
      finish([&] {
        async(fail_when_ready(promise.get_future()));
        async([&] {
          apgas::yield();
          promise.set_exception(std::make_exception_ptr(std::out_of_range("late")));
        });
      });
      ADD_FAILURE() << "finish threw nothing";
    } catch (const apgas::multiple_exceptions& e) {
      ASSERT_EQ(e.size(), 1U);
      EXPECT_THROW(std::rethrow_exception(e.begin()->exception()), std::out_of_range);
    }
  });
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  const future<long> left = async_future(fib(n - 1));
  const long right = co_await fib(n - 2);
  co_return right + co_await left;
}

TEST_P(Coroutine, RunsInParallelWithAFuture) {
  run([] {
    EXPECT_EQ(sync_wait(fib(apgas::test::scaled(20, 12))), apgas::test::scaled(6765, 144));
  });
}

task<> spawn_around_a_wait(future<void> start, std::atomic<int>& count) {
  for (int i = 0; i < 10; ++i) async([&] { ++count; });
  co_await start;
  for (int i = 0; i < 10; ++i) async([&] { ++count; });
  co_await start;
  for (int i = 0; i < 10; ++i) async([&] { ++count; });
}

TEST_P(Coroutine, SpawnsIntoItsFinishBeforeAndAfterAWait) {
  run([] {
    std::atomic<int> count{0};
    for (int round = 1; round <= 50; ++round) {
      finish([&] {
        const apgas::promise<void> start;
        for (int i = 0; i < 4; ++i) async(spawn_around_a_wait(start.get_future(), count));
        apgas::yield();
        start.set_value();
      });
      ASSERT_EQ(count, round * 120);
    }
  });
}

task<> keep_locals(apgas::task_local<int>& local, int value, future<void> start, bool& kept) {
  local.set(value);
  co_await start;
  kept = local.get() == value;
}

TEST_P(Coroutine, KeepsItsTaskLocalValuesWhileItWaits) {
  run([] {
    apgas::task_local<int> local;
    const apgas::promise<void> start;
    bool kept[8] = {};
    finish([&] {
      for (int i = 0; i < 8; ++i) async(keep_locals(local, i + 1, start.get_future(), kept[i]));
      async([&] {
        EXPECT_EQ(local.get(), 0);
        apgas::yield();
        EXPECT_EQ(local.get(), 0);
        start.set_value();
      });
    });
    for (const bool k : kept) EXPECT_TRUE(k);
  });
}

TEST_P(Coroutine, InheritsTaskLocalValues) {
  run([] {
    apgas::task_local<int> local(apgas::inherit);
    local.set(3);
    int seen = 0;
    finish([&] {
      async([&]() -> task<> {
        co_await async_future([] { apgas::yield(); });
        seen = local.get();
      });
    });
    EXPECT_EQ(seen, 3);
  });
}

TEST_P(Coroutine, KeepsTheClosureThatItIsACoroutineOf) {
  run([] {
    const apgas::promise<void> start;
    auto witness = std::make_shared<int>(9);
    std::atomic<int> seen{0};
    finish([&] {
      async([witness, &seen, start = start.get_future()]() -> task<> {
        co_await start;
        seen += *witness;
      });
      const future<int> value = async_future([witness]() -> task<int> { co_return *witness; });
      seen += value.get();
      witness.reset();
      start.set_value();
    });
    EXPECT_EQ(seen, 18);
  });
}

// ---- a coroutine of another library -------------------------------------------------------------

// A coroutine that begins at once and destroys itself.
struct foreign {
  struct promise_type {
    static foreign get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
  };
};

foreign await_in_foreign(future<int> awaited, std::atomic<int>& seen) {
  seen += co_await awaited;
  seen += co_await awaited;
}

TEST_P(Coroutine, OfAnotherLibraryAwaitsAFuture) {
  run([] {
    std::atomic<int> seen{0};
    const apgas::promise<int> promise;
    finish([&] {
      await_in_foreign(promise.get_future(), seen);
      await_in_foreign(async_future(sum(1, 2)), seen);
      apgas::yield();
      promise.set_value(5);
    });
    EXPECT_EQ(seen, 16);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0

// A coroutine awaits a finish and the phases of a clock, and holds no fiber meanwhile.

#include <array>
#include <atomic>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/finish.hpp>
#include <apgas/finish_awaitable.hpp>
#include <apgas/promise.hpp>
#include <apgas/sync/phase_event.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/yield.hpp>

#include "support/message_of.hpp"
#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::async_future;
using apgas::finish;
using apgas::finish_awaitable;
using apgas::sync_wait;
using apgas::task;

class Awaiting : public testing::TestWithParam<int> {
 protected:
  template <class F>
  static void run(F f) {
    apgas::test::run_tasks(GetParam(), std::move(f));
  }
};
// With 20, clocks become trees.
INSTANTIATE_TEST_SUITE_P(OnWorkers, Awaiting, testing::Values(1, 2, 4, 20));

void spawn_some(std::atomic<int>& count) {
  for (int i = 0; i < 20; ++i) {
    async([&count] {
      apgas::yield();
      async([&count] { ++count; });
    });
  }
}

task<int> spawn_and_count(std::atomic<int>& count) {
  const int value = co_await finish_awaitable([&] {
    spawn_some(count);
    return 7;
  });
  co_return count + value;
}

TEST_P(Awaiting, AFinishWaitsForItsTasks) {
  run([] {
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> count{0};
      EXPECT_EQ(sync_wait(spawn_and_count(count)), 27);
      EXPECT_EQ(async_future(spawn_and_count(count)).get(), 47);
    }
  });
}

// Spawns before and after the coroutine waits, in the finish and around it.
task<int> wait_inside(std::atomic<int>& count, apgas::future<void> start) {
  async([&] { count += 1'000'000; });
  int before_end = 0;
  const int value = co_await finish_awaitable([&]() -> task<int> {
    spawn_some(count);
    co_await start;
    spawn_some(count);
    co_await async_future([] { apgas::yield(); });
    spawn_some(count);
    co_return 1;
  });
  before_end = count % 1'000'000;
  async([&] { count += 1'000'000; });
  co_return before_end + value;
}

TEST_P(Awaiting, ABodyThatIsACoroutineWaitsInsideItsFinish) {
  run([] {
    for (int round = 0; round < 50; ++round) {
      std::array<std::atomic<int>, 4> counts{};
      finish([&] {
        const apgas::promise<void> start;
        std::vector<apgas::future<int>> results;
        for (auto& count : counts) {
          results.push_back(async_future(wait_inside(count, start.get_future())));
        }
        apgas::yield();
        start.set_value();
        for (const auto& r : results) EXPECT_EQ(r.get(), 61);
      });
      for (const auto& count : counts) EXPECT_EQ(count, 2'000'060);
    }
  });
}

task<> nest(int depth, std::atomic<int>& ended) {
  if (depth > 0) {
    co_await finish_awaitable([&]() -> task<> {
      async(nest(depth - 1, ended));
      co_await nest(depth - 1, ended);
    });
  }
  ++ended;
}

TEST_P(Awaiting, NestedFinishesEnd) {
  run([] {
    std::atomic<int> ended{0};
    finish([&] { async(nest(8, ended)); });
    EXPECT_EQ(ended, 511);
  });
}

task<int> fail_in_finish() {
  try {
    co_await finish_awaitable([]() -> task<> {
      async([] { throw std::out_of_range("child"); });
      co_await async_future([] { apgas::yield(); });
      throw std::out_of_range("body");
    });
  } catch (const apgas::multiple_exceptions& e) {
    co_return static_cast<int>(e.size());
  }
  co_return 0;
}

TEST_P(Awaiting, AFinishThrowsWhatItsTasksThrew) {
  run([] {
    EXPECT_EQ(sync_wait(fail_in_finish()), 2);
    EXPECT_EQ(async_future(fail_in_finish()).get(), 2);
  });
}

TEST_P(Awaiting, ATaskThatWasMadeBeforeIsTheBodyOfAFinish) {
  run([] {
    std::atomic<int> count{0};
    const auto body = [](std::atomic<int>& n) -> task<> {
      spawn_some(n);
      co_return;
    };
    sync_wait(finish_awaitable(body(count)));
    EXPECT_EQ(count, 20);
  });
}

// ---- clocks -------------------------------------------------------------------------------------

constexpr int phases = 20;

task<> advance_together(apgas::clock c, std::atomic<int>& arrived, int members, bool& in_step) {
  for (int p = 0; p < phases; ++p) {
    ++arrived;
    co_await c.advance_awaitable();
    in_step = in_step && arrived >= members * (p + 1) && c.phase() == p + 1;
  }
}

TEST_P(Awaiting, AClockKeepsCoroutinesAndTasksInStep) {
  run([] {
    static constexpr int members = 120;
    std::atomic<int> arrived{0};
    std::array<bool, members> in_step;
    in_step.fill(true);
    finish([&] {
      const auto c = apgas::clock::make();
      for (int i = 0; i < members; ++i) {
        bool& ok = in_step[static_cast<std::size_t>(i)];
        if (i % 3 != 0) {
          async(apgas::clocked(c), advance_together(c, arrived, members, ok));
          continue;
        }
        async(apgas::clocked(c), [c, &arrived, &ok] {
          for (int p = 0; p < phases; ++p) {
            ++arrived;
            c.advance();
            ok = ok && arrived >= members * (p + 1);
          }
        });
      }
    });
    for (const bool ok : in_step) EXPECT_TRUE(ok);
    EXPECT_EQ(arrived, members * phases);
  });
}

TEST_P(Awaiting, AClockNeedsNoFibersForCoroutines) {
  run([] {
    // Each worker has a fiber or two of its own, whatever it runs.
    const int more = 2 * (apgas::test::workers_started(GetParam()) - GetParam());
    const int members = apgas::test::scaled(2'000, 500) + 2 * more;
    std::atomic<int> arrived{0};
    std::deque<bool> in_step(static_cast<std::size_t>(members), true);
    auto& scheduler = *apgas::sync::place_of(*apgas::scheduler::current_fiber()).task_scheduler;
    finish([&] {
      const auto c = apgas::clock::make();
      for (bool& ok : in_step) {
        async(apgas::clocked(c), advance_together(c, arrived, members, ok));
      }
    });
    for (const bool ok : in_step) EXPECT_TRUE(ok);
    EXPECT_LT(scheduler.stats().fibers, 200U + static_cast<unsigned>(more));
  });
}

// A member that resumes the clock before it advances, one that drops it, one that ends early.
TEST_P(Awaiting, AClockGoesOnWhenCoroutinesLeaveIt) {
  run([] {
    std::atomic<int> advanced{0};
    const auto lock_step = [&] {
      const auto c = apgas::clock::make();
      async(apgas::clocked(c), [c, &advanced]() -> task<> {
        for (int i = 0; i < 5; ++i) {
          c.resume();
          co_await c.advance_awaitable();
          ++advanced;
        }
      });
      async(apgas::clocked(c), [c, &advanced]() -> task<> {
        co_await c.advance_awaitable();
        ++advanced;
        c.drop();
        co_await async_future([] { apgas::yield(); });
      });
      async(apgas::clocked(c), [c, &advanced]() -> task<> {
        co_await c.advance_awaitable();
        ++advanced;
        throw std::runtime_error("leaves");
      });
      c.drop();
      EXPECT_THROW(sync_wait([](apgas::clock of) -> task<> { co_await of.advance_awaitable(); }(c)),
                   apgas::clock_use_error);
    };
    EXPECT_THROW(finish(lock_step), apgas::multiple_exceptions);
    EXPECT_EQ(advanced, 7);
  });
}

TEST_P(Awaiting, ACoroutineWithAFutureIsRegistered) {
  run([] {
    finish([] {
      const auto c = apgas::clock::make();
      const auto last_phase = async_future(apgas::clocked(c), [c]() -> task<std::int64_t> {
        co_await c.advance_awaitable();
        co_return c.phase();
      });
      c.advance();
      c.drop();
      EXPECT_EQ(last_phase.get(), 1);
    });
  });
}

TEST_P(Awaiting, AClockThatACoroutineMakesIsDroppedWithItsFinish) {
  run([] {
    std::atomic<int> advanced{0};
    finish([&] {
      async([&]() -> task<> {
        co_await finish_awaitable([&]() -> task<> {
          const auto c = apgas::clock::make();
          for (int i = 0; i < 3; ++i) {
            async(apgas::clocked(c), [c, &advanced]() -> task<> {
              co_await c.advance_awaitable();
              ++advanced;
            });
          }
          co_await async_future([] { apgas::yield(); });
        });
        EXPECT_EQ(advanced, 3);
      });
    });
  });
}

}  // namespace

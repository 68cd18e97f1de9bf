// SPDX-License-Identifier: Apache-2.0

// Clocks that are passed on inside a finish that began after the clock was acquired, as X10
// permits.

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>
#include <apgas/coroutine.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/latch.hpp>
#include <apgas/phaser.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clocked;
using apgas::clocked_async;
using apgas::clocked_finish;
using apgas::finish;
using apgas::test::run_tasks;
using apgas::test::scaled;

// The program of X10's tests.
TEST(ClockInFinish, TheSpawnerDropsTheClockBeforeItWaits) {
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [] {
      for (int i = 0; i < scaled(500, 50); ++i) {
        bool advanced = false;
        const auto c = clock::make();
        finish([&, c] {
          async(clocked(c), [&advanced, c] {
            c.advance();
            advanced = true;
          });
          c.drop();
        });
        EXPECT_TRUE(advanced && c.dropped());
      }
    });
  }
}

TEST(ClockInFinish, ManyTasksStayInLockStep) {
  for (const int workers : {1, 2, 4}) {
    for (const int tasks : {1, 2, 3, 100, scaled(2000, 200)}) {
      run_tasks(workers, [tasks] {
        std::vector<int> cells(static_cast<std::size_t>(tasks), 0);
        std::atomic<int> wrong{0};
        const auto c = clock::make();
        finish([&] {
          for (int i = 0; i < tasks; ++i) {
            async(clocked(c), [&, c, i] {
              const auto& next = cells[static_cast<std::size_t>((i + 1) % tasks)];
              for (int k = 1; k <= 10; ++k) {
                cells[static_cast<std::size_t>(i)] = k;
                c.advance();
                if (next != k) ++wrong;
                c.advance();
              }
            });
          }
          c.drop();
        });
        EXPECT_EQ(wrong, 0);
      });
    }
  }
}

TEST(ClockInFinish, TheSpawnerAdvancesInStep) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      const auto c = clock::make();
      std::atomic<int> sum{0};
      for (int round = 0; round < 50; ++round) {
        finish([&] {
          for (int i = 0; i < 20; ++i) {
            async(clocked(c), [&, c] {
              ++sum;
              c.advance();
              ++sum;
              c.advance();
            });
          }
          c.advance();
          EXPECT_GE(sum, 40 * round + 20);
          c.advance();
        });
        EXPECT_EQ(c.phase(), 2 * (round + 1));
      }
      EXPECT_EQ(sum, 2000);
    });
  }
}

// Tasks of an outer and an inner finish are on the same clock, and in the same deque.
TEST(ClockInFinish, TasksOfBothFinishesShareThePhases) {
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [] {
      for (int repeat = 0; repeat < scaled(50, 5); ++repeat) {
        std::atomic<int> arrived{0};
        std::atomic<int> early{0};
        finish([&] {
          const auto c = clock::make();
          const auto body = [&, c] {
            for (int k = 1; k <= 5; ++k) {
              ++arrived;
              c.advance();
              if (arrived < 40 * k) ++early;
              c.advance();
            }
          };
          for (int i = 0; i < 20; ++i) async(clocked(c), body);
          finish([&] {
            for (int i = 0; i < 20; ++i) async(clocked(c), body);
            c.drop();
          });
        });
        EXPECT_EQ(early, 0);
      }
    });
  }
}

// The deadlock that the header describes, except that the child of the inner finish does not wait
// for the phase.
TEST(ClockInFinish, ASpawnerThatWaitsHoldsBackThePhase) {
  run_tasks(2, [] {
    std::atomic<bool> advanced{false};
    finish([&] {
      const auto c = clock::make();
      async(clocked(c), [&, c] {
        c.advance();
        advanced = true;
      });
      finish([&] {
        async(clocked(c), [&] {
          for (int k = 0; k < 200; ++k) apgas::yield();
          EXPECT_FALSE(advanced) << "the spawner has not resumed";
        });
      });
      EXPECT_FALSE(advanced);
    });
    EXPECT_TRUE(advanced);
  });
}

TEST(ClockInFinish, AResumeSufficesIfTheChildrenAdvanceOnce) {
  run_tasks(2, [] {
    const auto c = clock::make();
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> passed{0};
      finish([&] {
        for (int i = 0; i < 10; ++i) {
          async(clocked(c), [&, c] {
            c.advance();
            ++passed;
          });
        }
        c.resume();
      });
      EXPECT_EQ(passed, 10);
      c.advance();
      EXPECT_EQ(c.phase(), round + 1);
    }
  });
}

TEST(ClockInFinish, TheEndOfTheFinishDropsOnlyItsOwnClocks) {
  run_tasks(2, [] {
    const auto outer = clock::make();
    clock inner;
    finish([&] {
      inner = clock::make();
      async(clocked(outer, inner), [=] {
        inner.advance();
        inner.drop();
        EXPECT_EQ(outer.phase(), 0);
      });
    });
    EXPECT_TRUE(outer.registered());
    EXPECT_TRUE(inner.dropped());
    outer.advance();
    EXPECT_EQ(outer.phase(), 1);
  });
}

TEST(ClockInFinish, AnExceptionOfAChildEndsItsRegistration) {
  run_tasks(2, [] {
    const auto c = clock::make();
    const auto throws = [&] {
      finish([&] {
        async(clocked(c), [c] {
          c.advance();
          throw std::runtime_error("no");
        });
        async(clocked(c), [c] {
          c.advance();
          c.advance();
        });
        c.advance();
        c.advance();
      });
    };
    EXPECT_THROW(throws(), apgas::multiple_exceptions);
    c.advance();
    EXPECT_EQ(c.phase(), 3);
  });
}

TEST(ClockInFinish, GrandchildrenOfDeepFinishes) {
  run_tasks(2, [] {
    const auto c = clock::make();
    std::atomic<int> leaves{0};
    const auto tree = [&](auto& self, int depth) -> void {
      if (depth == 0) {
        c.advance();
        ++leaves;
        return;
      }
      finish([&] {
        for (int i = 0; i < 2; ++i) async(clocked(c), [&self, depth] { self(self, depth - 1); });
        c.drop();
      });
    };
    tree(tree, 8);
    EXPECT_EQ(leaves, 256);
  });
}

TEST(ClockInFinish, ClockedAsyncUsesTheInnermostClockedFinish) {
  run_tasks(2, [] {
    std::atomic<int> sum{0};
    clocked_finish([&] {
      for (int round = 1; round <= 20; ++round) {
        finish([&] {
          for (int i = 0; i < 10; ++i) {
            clocked_async([&] {
              ++sum;
              clock::advance_all();
            });
          }
          clock::advance_all();
          EXPECT_EQ(sum, 10 * round);
        });
      }
      clocked_finish([&] { clocked_async([] { clock::advance_all(); }); });
      finish([&] { clocked_async([&] { finish([&] { clocked_async([&] { ++sum; }); }); }); });
    });
    EXPECT_EQ(sum, 201);
  });
}

std::uint64_t innermost_clock() {
  return apgas::clock_access::implicit(*apgas::scheduler::current_fiber(), "a test").number;
}

TEST(ClockInFinish, PhasedWithoutArgumentsKeepsTheInnermostClockedFinish) {
  run_tasks(2, [] {
    clocked_finish([] {
      const std::uint64_t outer = innermost_clock();
      clocked_finish([outer] {
        const std::uint64_t inner = innermost_clock();
        EXPECT_NE(inner, outer);
        async(apgas::phased(), [inner] {
          EXPECT_EQ(innermost_clock(), inner);
          clocked_async([inner] { EXPECT_EQ(innermost_clock(), inner); });
        });
      });
    });
  });
}

TEST(ClockInFinish, PhasedWithoutArgumentsPassesClocksOn) {
  run_tasks(2, [] {
    const auto c = clock::make();
    finish([&] {
      const apgas::phaser ph;
      async(apgas::phased(), [=] {
        EXPECT_TRUE(c.registered() && ph.registered());
        c.advance();
        ph.next();
      });
      c.advance();
      ph.next();
    });
    EXPECT_EQ(c.phase(), 1);
  });
}

apgas::task<int> advancing(clock c) {
  co_await c.advance_awaitable();
  co_await c.advance_awaitable();
  co_return static_cast<int>(c.phase());
}

TEST(ClockInFinish, Coroutines) {
  run_tasks(2, [] {
    const auto c = clock::make();
    finish([&] {
      async(clocked(c), advancing(c));
      auto phase = apgas::async_future(clocked(c), advancing(c));
      c.advance();
      c.drop();
      EXPECT_EQ(phase.get(), 2);
    });
  });
}

}  // namespace

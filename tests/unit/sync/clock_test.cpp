// SPDX-License-Identifier: Apache-2.0
#include <apgas/clock.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/atomic.hpp>
#include <apgas/errors.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

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
using apgas::test::scaled;

enum class how { lazy, eager };

void advance(const clock& c, how h) {
  if (h == how::eager) {
    c.advance_eager();
  } else {
    c.advance();
  }
}

// Tasks write their own cell in one phase and read their neighbour's in the next: TSan sees a race
// if a phase ends early, and the values tell if one is skipped.
void lock_step(int tasks, int phases, how h) {
  std::vector<int> cells(static_cast<std::size_t>(tasks), 0);
  std::atomic<int> wrong{0};
  finish([&] {
    auto c = clock::make();
    for (int i = 0; i < tasks; ++i) {
      async(clocked(c), [&, c, i] {
        auto& mine = cells[static_cast<std::size_t>(i)];
        const auto& next = cells[static_cast<std::size_t>((i + 1) % tasks)];
        for (int k = 1; k <= phases; ++k) {
          mine = k;
          advance(c, h);
          if (next != k) ++wrong;
          advance(c, h);
          if (c.phase() != 2 * k) ++wrong;
        }
      });
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Clock, TasksGoInLockStep) {
  for (const int workers : {1, 2, 4}) {
    for (const int tasks : {1, 2, 3, 8, 100, 1000}) {
      run_tasks(workers, [&] {
        lock_step(tasks, scaled(50, 5), how::lazy);
        lock_step(tasks, scaled(50, 5), how::eager);
      });
    }
  }
}

TEST(Clock, ManyMoreTasksThanOneBlockHolds) {
  run_tasks(2, [] { lock_step(scaled(20'000, 1'500, 5'000), 3, how::lazy); });
}

TEST(Clock, PhasesAreCountedPerTask) {
  run_tasks(2, [] {
    auto c = clock::make();
    EXPECT_EQ(c.phase(), 0);
    c.advance();
    EXPECT_EQ(c.phase(), 1);
    c.resume();
    EXPECT_EQ(c.phase(), 1) << "it changes only in advance";
    c.resume();
    c.advance();
    EXPECT_EQ(c.phase(), 2);
    EXPECT_TRUE(c.registered());
    EXPECT_FALSE(c.dropped());
    c.drop();
    EXPECT_TRUE(c.dropped());
  });
}

TEST(Clock, ResumeLetsTheOthersGoOn) {
  run_tasks(2, [] {
    std::atomic<bool> passed{false};
    finish([&] {
      auto c = clock::make();
      async(clocked(c), [&, c] {
        c.advance();
        passed = true;
      });
      c.resume();
      while (!passed) apgas::yield();  // the other is in the next phase, this task is not
      EXPECT_EQ(c.phase(), 0);
      c.advance();
      EXPECT_EQ(c.phase(), 1);
    });
  });
}

TEST(Clock, ATaskThatResumedAndComputesHoldsNobodyUp) {
  // The arrivals that its worker only noted must not wait for it.
  run_tasks(1, [] {
    std::atomic<int> passed{0};
    finish([&] {
      auto c = clock::make();
      for (int i = 0; i < 20; ++i) {
        async(clocked(c), [&, c] {
          c.advance();
          c.advance();
          ++passed;
        });
      }
      async(clocked(c), [&, c] {
        c.advance();
        c.resume();
        while (passed < 20) apgas::yield();
      });
      c.drop();
    });
    EXPECT_EQ(passed, 20);
  });
}

TEST(Clock, ATaskThatEndsIsDropped) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      std::atomic<int> sum{0};
      finish([&] {
        auto c = clock::make();
        for (int i = 0; i < 300; ++i) {
          async(clocked(c), [&, c, i] {
            for (int k = 0; k < i % 7; ++k) c.advance();
            ++sum;
          });
        }
        for (int k = 0; k < 10; ++k) c.advance();
        EXPECT_EQ(sum, 300);
      });
    });
  }
}

TEST(Clock, ATaskThatThrowsIsDroppedAndTheOthersGoOn) {
  run_tasks(2, [] {
    std::atomic<int> reached{0};
    try {
      finish([&] {
        auto c = clock::make();
        for (int i = 0; i < 40; ++i) {
          async(clocked(c), [&, c, i] {
            c.advance();
            if (i % 4 == 0) throw std::runtime_error("task " + std::to_string(i));
            c.advance();
            c.advance();
            ++reached;
          });
        }
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const apgas::multiple_exceptions& e) {
      EXPECT_EQ(e.size(), 10U);
    }
    EXPECT_EQ(reached, 30);
  });
}

TEST(Clock, TheBodyOfAFinishDropsWhatItMade) {
  run_tasks(2, [] {
    std::atomic<bool> done{false};
    clock outer;
    finish([&] {
      outer = clock::make();
      async(clocked(outer), [&] {
        outer.advance();
        done = true;
      });
      // No drop: the body ends, and with it its registration.
    });
    EXPECT_TRUE(done);
    EXPECT_TRUE(outer.dropped());
  });
}

TEST(Clock, ATaskThatMadeOneAndForgotItIsDropped) {
  run_tasks(2, [] {
    std::atomic<int> done{0};
    finish([&] {
      for (int i = 0; i < 10; ++i) {
        async([&] {
          auto c = clock::make();
          async(clocked(c), [&done, c] {
            c.advance();
            ++done;
          });
        });
      }
    });
    EXPECT_EQ(done, 10);
  });
}

TEST(Clock, ChildrenInheritPhaseAndResumption) {
  run_tasks(2, [] {
    finish([&] {
      auto c = clock::make();
      c.advance();
      async(clocked(c), [c] {
        EXPECT_EQ(c.phase(), 1);
        c.advance();
        EXPECT_EQ(c.phase(), 2);
      });
      c.resume();
      async(clocked(c), [c] {
        EXPECT_EQ(c.phase(), 1);
        c.advance();  // it was born resumed: only waits
        EXPECT_EQ(c.phase(), 2);
      });
      c.advance();
      EXPECT_EQ(c.phase(), 2);
    });
  });
}

TEST(Clock, RegisteringUnderLoad) {
  // Each task spawns another in every phase, until there are enough.
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [] {
      std::atomic<int> born{0};
      std::atomic<int> wrong{0};
      const int most = scaled(2000, 300);
      struct grower {
        clock c;
        std::atomic<int>& born;
        std::atomic<int>& wrong;
        int most;
        void operator()() const {
          const std::int64_t first = c.phase();
          for (int k = 0; k < 12; ++k) {
            if (born.fetch_add(1) < most) async(clocked(c), grower(*this));
            c.advance();
            if (c.phase() != first + k + 1) ++wrong;
          }
        }
      };
      finish([&] {
        auto c = clock::make();
        async(clocked(c), grower{c, born, wrong, most});
      });
      EXPECT_GE(born, most);
      EXPECT_EQ(wrong, 0);
    });
  }
}

TEST(Clock, SeveralClocksPerTaskDoNotDeadlock) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      std::atomic<int> wrong{0};
      finish([&] {
        auto a = clock::make();
        auto b = clock::make();
        for (int i = 0; i < 50; ++i) {
          const bool both = i % 3 == 0;
          const auto body = [&wrong, a, b, i] {
            for (int k = 0; k < 20; ++k) {
              clock::advance_all();
              if ((i % 3 == 1 ? a : b).phase() != k + 1) ++wrong;
            }
          };
          if (both) {
            async(clocked(a, b), body);
          } else if (i % 3 == 1) {
            async(clocked(a), body);
          } else {
            async(clocked(b), body);
          }
        }
      });
      EXPECT_EQ(wrong, 0);
    });
  }
}

TEST(Clock, ResumeAllThenAdvanceAll) {
  run_tasks(2, [] {
    finish([&] {
      auto a = clock::make();
      auto b = clock::make();
      clock::resume_all();
      clock::advance_all_eager();
      EXPECT_EQ(a.phase(), 1);
      EXPECT_EQ(b.phase(), 1);
      clock::resume_all_lazy();
      clock::resume_all_eager();
      clock::advance_all_lazy();
      EXPECT_EQ(a.phase(), 2);
      EXPECT_EQ(b.phase(), 2);
    });
    clock::advance_all();  // no clock: nothing to do
  });
}

TEST(Clock, AFutureOfAClockedTask) {
  run_tasks(2, [] {
    finish([&] {
      auto c = clock::make();
      auto f = apgas::async_future(clocked(c), [c] {
        c.advance();
        return c.phase();
      });
      c.advance();
      EXPECT_EQ(f.get(), 1);
    });
  });
}

TEST(ClockedFinish, RunsRounds) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      const int n = 200;
      std::vector<int> values(n, 0);
      std::vector<int> next(n, 0);
      for (int round = 0; round < 20; ++round) {
        clocked_finish([&] {
          for (int i = 0; i < n; ++i) {
            clocked_async([&, i] {
              next[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>((i + 1) % n)] + 1;
              clock::advance_all();
              values[static_cast<std::size_t>(i)] = next[static_cast<std::size_t>(i)];
            });
          }
        });
      }
      for (const int v : values) EXPECT_EQ(v, 20);
    });
  }
}

TEST(ClockedFinish, ReturnsItsValueAndNests) {
  run_tasks(2, [] {
    std::atomic<int> inner{0};
    const int value = clocked_finish([&] {
      clocked_async([&] {
        clock::advance_all();
        clocked_finish([&] {
          clocked_async([&] { ++inner; });
          clocked_async([&] {
            clock::advance_all();
            ++inner;
          });
        });
      });
      clock::advance_all();
      return 7;
    });
    EXPECT_EQ(value, 7);
    EXPECT_EQ(inner, 2);
  });
}

TEST(ClockedFinish, CollectsExceptions) {
  run_tasks(2, [] {
    EXPECT_THROW(clocked_finish([] {
                   clocked_async([] { throw std::runtime_error("x"); });
                   clocked_async([] { clock::advance_all(); });
                   clock::advance_all();
                 }),
                 apgas::multiple_exceptions);
  });
}

// ---- what is refused ----------------------------------------------------------------------------

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

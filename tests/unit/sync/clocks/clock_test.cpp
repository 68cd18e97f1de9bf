// SPDX-License-Identifier: Apache-2.0
#include <apgas/clock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clocked;
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

// Each task writes its own cell in one phase and reads its neighbour's cell in the next. If a phase
// ends early, the thread sanitizer reports a race; if a phase is skipped, the values are wrong.
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

TEST(Clock, TasksAdvanceInLockStep) {
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
    EXPECT_EQ(c.phase(), 1) << "the phase changes only in advance";
    c.resume();
    c.advance();
    EXPECT_EQ(c.phase(), 2);
    EXPECT_TRUE(c.registered());
    EXPECT_FALSE(c.dropped());
    c.drop();
    EXPECT_TRUE(c.dropped());
  });
}

TEST(Clock, ResumeLetsTheOthersContinue) {
  run_tasks(2, [] {
    std::atomic<bool> passed{false};
    finish([&] {
      auto c = clock::make();
      async(clocked(c), [&, c] {
        c.advance();
        passed = true;
      });
      c.resume();
      while (!passed) apgas::yield();  // the other task is in the next phase, this one is not
      EXPECT_EQ(c.phase(), 0);
      c.advance();
      EXPECT_EQ(c.phase(), 1);
    });
  });
}

TEST(Clock, AResumedTaskThatComputesDelaysNoOtherTask) {
  // The arrivals that this task's worker has batched must be flushed before the task computes. The
  // other worker runs the rest.
  run_tasks(2, [] {
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
        while (passed < 20) std::this_thread::yield();  // does not suspend, so it flushes nothing
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

TEST(Clock, ATaskThatThrowsIsDroppedAndTheOthersContinue) {
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

TEST(Clock, TheBodyOfAFinishDropsTheClocksItMade) {
  run_tasks(2, [] {
    std::atomic<bool> done{false};
    clock outer;
    finish([&] {
      outer = clock::make();
      async(clocked(outer), [&] {
        outer.advance();
        done = true;
      });
      // No drop: the registration ends with the body.
    });
    EXPECT_TRUE(done);
    EXPECT_TRUE(outer.dropped());
  });
}

TEST(Clock, ATaskIsDroppedFromAForgottenClock) {
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
        c.advance();  // it started as resumed, so it only waits
        EXPECT_EQ(c.phase(), 2);
      });
      c.advance();
      EXPECT_EQ(c.phase(), 2);
    });
  });
}

TEST(Clock, RegisteringUnderLoad) {
  // Each task spawns another one in every phase, until there are enough.
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
    clock::advance_all();  // without a clock it has no effect
  });
}

TEST(Clock, ALoopOfPhasesStarvesNoOtherTask) {
  for (const how h : {how::lazy, how::eager}) {
    for (const int workers : {1, 2}) {
      run_tasks(workers, [h] {
        std::atomic<bool> done{false};
        finish([&] {
          async([&] {
            apgas::yield();
            apgas::sleep_for(std::chrono::milliseconds(2));
            done = true;
          });
          for (int i = 0; i < 2; ++i) {
            async([&, h] {
              auto c = clock::make();  // no other task is registered: every phase ends at once
              while (!done) advance(c, h);
            });
          }
        });
      });
    }
  }
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

}  // namespace

// SPDX-License-Identifier: Apache-2.0

// Clocks and phasers in critical sections that another task runs (flat combining). The operations
// use the registrations of the task that waits, whatever the registrations of the running task are.

#include <atomic>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <apgas/accumulator.hpp>
#include <apgas/atomic.hpp>
#include <apgas/clock.hpp>
#include <apgas/errors.hpp>
#include <apgas/phaser.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

namespace {

using apgas::accumulator;
using apgas::async;
using apgas::clock;
using apgas::clocked;
using apgas::finish;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::test::run_tasks;
using apgas::test::scaled;
using apgas::test::yields_until;

// One task waits here with a body. Another task opens the gate and thereby runs that body.
class gate {
 public:
  template <class F>
  void wait(F body) {
    const auto* const waiter = apgas::scheduler::current_fiber();
    apgas::when(
        [this] {
          looked_ = true;
          return open_;
        },
        [&] {
          EXPECT_NE(apgas::scheduler::current_fiber(), waiter);
          body();
        });
  }

  // A task that has found the gate shut and then left the critical section is waiting.
  void open() {
    auto& self = *apgas::scheduler::current_fiber();
    auto& sections = apgas::sync::place_of(self).atomic_sections;
    ASSERT_TRUE(yields_until([this] { return looked_.load(); }));
    ASSERT_TRUE(yields_until([&] { return sections.try_enter(self); }));
    open_ = true;
    sections.leave(self);
  }

 private:
  std::atomic<bool> looked_{false};
  bool open_ = false;
};

template <class F>
void on_one_and_two_workers(F f) {
  for (const int workers : {1, 2}) {
    SCOPED_TRACE(workers);
    run_tasks(workers, f);
  }
}

// How the task that opens the gate is registered on the clock.
enum class runner { has_dropped, has_resumed, has_not_resumed };

void resume_in_a_body(runner how) {
  gate g;
  std::atomic<bool> passed{false};
  finish([&] {
    const auto c = clock::make();
    async(clocked(c), [&, c] {
      g.wait([c] { c.resume(); });
      EXPECT_EQ(c.phase(), 0);
      EXPECT_TRUE(yields_until([&] { return passed.load(); }));
      c.advance();
      EXPECT_EQ(c.phase(), 1);
    });
    async(clocked(c), [&, c] {
      c.advance();
      passed = true;
    });
    if (how == runner::has_dropped) c.drop();
    if (how == runner::has_resumed) c.resume();
    g.open();
    if (how != runner::has_not_resumed) return;
    for (int i = 0; i < 100; ++i) apgas::yield();
    EXPECT_FALSE(passed);
    c.resume();
  });
}

TEST(CriticalSectionPhases, ResumeUsesTheWaitersRegistration) {
  on_one_and_two_workers([] {
    resume_in_a_body(runner::has_dropped);
    resume_in_a_body(runner::has_resumed);
    resume_in_a_body(runner::has_not_resumed);
  });
}

TEST(CriticalSectionPhases, RegisteredAndPhaseUseTheWaitersRegistration) {
  on_one_and_two_workers([] {
    gate g;
    finish([&] {
      const auto both = clock::make();
      const auto runners = clock::make();
      async(clocked(both), [&, both, runners] {
        both.resume();
        const auto waiters = clock::make();
        g.wait([&] {
          EXPECT_TRUE(both.registered());
          EXPECT_EQ(both.phase(), 0);
          EXPECT_TRUE(waiters.registered());
          EXPECT_FALSE(runners.registered());
          EXPECT_THROW(static_cast<void>(runners.phase()), apgas::clock_use_error);
        });
      });
      both.advance();
      g.open();
      EXPECT_EQ(both.phase(), 1);
      EXPECT_TRUE(runners.registered());
    });
  });
}

TEST(CriticalSectionPhases, MisuseIsThrownInTheWaiter) {
  on_one_and_two_workers([] {
    gate g;
    finish([&] {
      const auto c = clock::make();
      async([&, c] {
        EXPECT_THROW(g.wait([c] { c.resume(); }), apgas::clock_use_error);
        EXPECT_FALSE(c.registered());
      });
      g.open();
      c.advance();
      EXPECT_EQ(c.phase(), 1);
    });
  });
}

TEST(CriticalSectionPhases, DropUsesTheWaitersRegistration) {
  on_one_and_two_workers([] {
    gate g;
    finish([&] {
      const auto c = clock::make();
      async(clocked(c), [&, c] {
        g.wait([c] { c.drop(); });
        EXPECT_TRUE(c.dropped());
      });
      g.open();
      EXPECT_TRUE(c.registered());
      c.advance();
      c.advance();
      EXPECT_EQ(c.phase(), 2);
    });
  });
}

// The running task is wait-only, so that a signal of its own would be refused.
TEST(CriticalSectionPhases, SignalUsesTheWaitersRegistration) {
  on_one_and_two_workers([] {
    gate g;
    finish([&] {
      const phaser ph;
      async(phased(ph, phaser_mode::signal), [&, ph] {
        g.wait([ph] {
          ph.signal();
          ph.signal();
          EXPECT_EQ(ph.phase(), 2);
        });
        EXPECT_EQ(ph.phase(), 2);
      });
      async(phased(ph, phaser_mode::wait), [&, ph] {
        g.open();
        EXPECT_EQ(ph.phase(), 0);
        ph.wait();
        ph.wait();
        EXPECT_EQ(ph.phase(), 2);
      });
      ph.drop();
    });
  });
}

// The waiter is a phase ahead of the running task, which has signalled and may not send any more.
TEST(CriticalSectionPhases, SendUsesTheWaitersRegistration) {
  on_one_and_two_workers([] {
    gate g;
    finish([&] {
      const phaser ph;
      const accumulator<int> sum(ph);
      async(phased(ph, phaser_mode::signal), [&, ph, sum] {
        sum.send(10);
        ph.signal();
        g.wait([ph, sum] {
          sum.send(5);
          ph.signal();
        });
      });
      sum.send(1);
      ph.signal();
      g.open();
      ph.wait();
      EXPECT_EQ(sum.result(), 11);
      ph.next();
      EXPECT_EQ(sum.result(), 5);
    });
  });
}

// Each body enables the body of the next task. Most bodies are run by other tasks, and they end the
// phase.
TEST(CriticalSectionPhases, ChainsOfBodiesEndPhases) {
  on_one_and_two_workers([] {
    const int tasks = scaled(150, 30);
    const int phases = scaled(20, 5);
    std::atomic<int> turn{0};
    std::atomic<int> wrong{0};
    finish([&] {
      const auto c = clock::make();
      for (int i = 0; i < tasks; ++i) {
        async(clocked(c), [&, c, i] {
          for (int k = 0; k < phases; ++k) {
            apgas::when([&] { return turn == k * tasks + i; },
                        [&] {
                          if (c.phase() != k) ++wrong;
                          ++turn;
                          c.resume();
                        });
            c.advance();
            if (c.phase() != k + 1 || turn < (k + 1) * tasks) ++wrong;
          }
        });
      }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(turn, phases * tasks);
  });
}

// The workers contend for the critical section, and tasks also send outside it.
TEST(CriticalSectionPhases, ContendedSectionsSend) {
  on_one_and_two_workers([] {
    const int tasks = scaled(100, 30);
    const int phases = scaled(100, 10);
    std::atomic<int> wrong{0};
    finish([&] {
      const phaser ph;
      const accumulator<std::int64_t> sum(ph);
      for (int i = 0; i < tasks; ++i) {
        async(phased(ph, phaser_mode::signal_wait), [&, ph, sum, i] {
          for (int k = 0; k < phases; ++k) {
            sum.send(1);
            apgas::atomic([&] { sum.send(i + k); });
            apgas::atomic([&] { ph.signal(); });
            ph.wait();
            const std::int64_t n = tasks;
            if (sum.result() != n * (n - 1) / 2 + n * k + n) ++wrong;
          }
        });
      }
    });
    EXPECT_EQ(wrong, 0);
  });
}

}  // namespace

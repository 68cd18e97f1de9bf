// SPDX-License-Identifier: Apache-2.0
// Lazy and eager waits, distinguished by counting suspensions. A task that waits lazily suspends in
// every phase that is not over. A task that waits eagerly does not suspend if the other tasks
// arrive soon.
#include <atomic>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clocked;
using apgas::finish;
using apgas::test::run_tasks;
using apgas::test::task_place;

using operation = void (*)(const clock&);

constexpr operation lazy_advances[] = {
    [](const clock& c) { c.advance(); },
    [](const clock& c) { c.advance_lazy(); },
    [](const clock&) { clock::advance_all(); },
    [](const clock&) { clock::advance_all_lazy(); },
};
constexpr operation eager_advances[] = {
    [](const clock& c) { c.advance_eager(); },
    [](const clock&) { clock::advance_all_eager(); },
};
constexpr operation resumes[] = {
    [](const clock& c) { c.resume(); },
    [](const clock& c) { c.resume_eager(); },
    [](const clock& c) { c.resume_lazy(); },
    [](const clock&) { clock::resume_all(); },
    [](const clock&) { clock::resume_all_eager(); },
    [](const clock&) { clock::resume_all_lazy(); },
};

std::uint64_t arrivals(const clock& c) {
  return apgas::sync::registration_of(*apgas::scheduler::current_fiber(),
                                      apgas::clock_access::id(c), apgas::sync::phase_kind::clock,
                                      "test")
      .node->core()
      .count()
      .updates;
}

void wait_for(const std::atomic<int>& n, int value) {
  while (n != value) std::this_thread::yield();  // keeps its worker
}

// Two tasks on two workers: the first advances, and the second arrives as soon as it sees that the
// first has. After each phase, enough(number of suspensions of the first task in it) tells whether
// to stop.
template <class Enough>
void phases_of_two(operation advance, Enough enough) {
  task_place place(2);
  place.run([&] {
    std::atomic<int> at{-1};  // the phase that the first task is about to finish
    std::atomic<int> go{-1};  // the phase that it may finish
    std::atomic<bool> over{false};
    finish([&] {
      const auto c = clock::make();
      async(clocked(c), [&, c] {
        for (int k = 0; !over; ++k) {
          at = k;
          wait_for(go, k);
          advance(c);
        }
      });
      for (int k = 0; !over; ++k) {
        wait_for(at, k);
        const std::uint64_t left = place.tasks().stats().suspensions;
        const std::uint64_t before = arrivals(c);
        go = k;
        while (arrivals(c) == before) std::this_thread::yield();
        c.resume();
        wait_for(at, k + 1);  // no other task can suspend, so only the first was counted
        over = enough(place.tasks().stats().suspensions - left);
        if (over) go = k + 1;
        c.advance();  // the phase is over already
      }
    });
  });
}

TEST(ClockStyles, LazyWaitsSuspendInEveryPhase) {
  for (const operation advance : lazy_advances) {
    constexpr int phases = 50;
    int n = 0;
    std::uint64_t left = 0;
    phases_of_two(advance, [&](std::uint64_t times) {
      EXPECT_EQ(times, 1U) << "phase " << n;
      left += times;
      return ++n == phases;
    });
    EXPECT_EQ(left, static_cast<std::uint64_t>(phases));
  }
}

// The system decides how soon the partner arrives, so the test runs as many phases as it takes. On
// two cores the first phase is enough; on one core the spinning task must lose the core at the
// right time.
TEST(ClockStyles, EagerWaitsDoNotSuspendIfTheOthersArriveSoon) {
  for (const operation advance : eager_advances) {
    constexpr int most_phases = 100'000;
    int n = 0;
    bool stayed = false;
    phases_of_two(advance, [&](std::uint64_t times) {
      EXPECT_LE(times, 1U) << "phase " << n;
      stayed = times == 0;
      return ++n == most_phases || stayed;
    });
    EXPECT_TRUE(stayed) << "in " << n << " phases";
  }
}

// No task waits for a task that has resumed, and that task waits only if the phase is not over.
TEST(ClockStyles, AnyResumeMatchesAnyAdvance) {
  const auto check = [](operation resume, operation advance) {
    std::atomic<bool> passed{false};
    finish([&] {
      const auto c = clock::make();
      async(clocked(c), [&, c] {
        advance(c);
        passed = true;
        advance(c);
        EXPECT_EQ(c.phase(), 2);
      });
      resume(c);
      resume(c);  // has no effect
      while (!passed) apgas::yield();
      EXPECT_EQ(c.phase(), 0);
      advance(c);
      EXPECT_EQ(c.phase(), 1);
    });
  };
  for (const int workers : {1, 2}) {
    run_tasks(workers, [&] {
      for (const operation resume : resumes) {
        for (const operation advance : lazy_advances) check(resume, advance);
        for (const operation advance : eager_advances) check(resume, advance);
      }
    });
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

#include "check.hpp"

namespace {

using apgas::statistics;

TEST(Statistics, OfOnePlace) {
  const statistics s = apgas::stats();
  EXPECT_EQ(s.places, 1u);
  EXPECT_GE(s.workers, 1u);
  EXPECT_GT(s.elapsed_ns, 0u);
  EXPECT_GE(s.awake(), 0.0);
  EXPECT_LE(s.awake(), 1.0);
  EXPECT_GE(s.tasks, s.inlined);
  EXPECT_GE(s.sleeps + s.workers, s.wakeups);  // which are read one after the other
  EXPECT_EQ(s.task_frames_received + s.reply_frames_received + s.finish_frames_received +
                s.control_frames_received,
            s.frames_received);
  EXPECT_EQ(s.task_bytes_received + s.reply_bytes_received + s.finish_bytes_received +
                s.control_bytes_received,
            s.bytes_received);
}

int tree(int depth) {
  if (depth == 0) return 1;
  int a = 0;
  int b = 0;
  apgas::finish([&] {
    apgas::async([&a, depth] { a = tree(depth - 1); });
    b = tree(depth - 1);
  });
  return a + b;
}

// The most that tasks of the library may add to a difference of `tasks`.
constexpr std::uint64_t other_tasks = 100;

TEST(Statistics, CountsEachTaskOnce) {
  constexpr std::uint64_t spawned = (1U << 14U) - 1;  // by tree(14), in all
  const statistics before = apgas::stats();
  EXPECT_EQ(tree(14), 1 << 14);
  const statistics after = apgas::stats();
  EXPECT_GE(after.tasks - before.tasks, spawned);
  EXPECT_LE(after.tasks - before.tasks, spawned + other_tasks);
  // A task that was not stolen runs inside the finish that waits for it, unless a task was
  // suspended.
  if (apgas::num_workers() <= 4) {
    EXPECT_GT(after.inlined - before.inlined, spawned / 2);
  }
  EXPECT_LE(after.inlined - before.inlined, spawned);
}

TEST(Statistics, CountsTheTasksOfALongLoop) {
  constexpr std::uint64_t spawned = 100'000;  // some run while the loop still spawns (drains)
  const statistics before = apgas::stats();
  apgas::finish([] {
    for (std::uint64_t i = 0; i < spawned; ++i) apgas::async([] {});
  });
  const statistics after = apgas::stats();
  if (apgas::num_workers() <= 4) {
    EXPECT_GT(after.drains, before.drains);
  }
  EXPECT_GE(after.tasks - before.tasks, spawned);
  EXPECT_LE(after.tasks - before.tasks, spawned + other_tasks);
}

TEST(Statistics, CountsTasksAtTheirPlace) {
  constexpr std::uint64_t spawned = 1000;
  const apgas::place there = test::last();
  const statistics before = apgas::at(there, [] { return apgas::stats(); });
  apgas::finish([there] {
    for (std::uint64_t i = 0; i < spawned; ++i) apgas::async_at(there, [] {});
  });
  const statistics after = apgas::at(there, [] { return apgas::stats(); });
  EXPECT_GE(after.tasks - before.tasks, spawned);
  // A task spawns those that arrived in one message.
  EXPECT_LE(after.tasks - before.tasks, 2 * spawned + other_tasks);
}

TEST(Statistics, OfAllPlaces) {
  const statistics all = apgas::stats_all();
  const auto n = static_cast<std::uint64_t>(apgas::num_places());
  EXPECT_EQ(all.places, n);
  EXPECT_GE(all.workers, n);
}

TEST(Statistics, CountsSuspensions) {
  const std::uint64_t before = apgas::stats().suspensions;
  apgas::promise<void> later;
  auto done = later.get_future();
  apgas::finish([&] {
    apgas::async([&] { done.get(); });
    apgas::sleep_for(std::chrono::milliseconds(1));
    later.set_value();
  });
  EXPECT_GT(apgas::stats().suspensions, before);
}

// One task waits once, in waits(), which release() ends; the task waits for nothing else.
template <class Waits, class Release>
void expect_one(std::uint64_t statistics::* field, Waits waits, Release release) {
  const statistics before = apgas::stats();
  statistics after;
  apgas::finish([&] {
    std::atomic<bool> over = false;
    apgas::async([&] {
      waits();
      over = true;
    });
    while (apgas::stats().*field == before.*field) apgas::yield();
    release();
    while (!over) apgas::yield();
    after = apgas::stats();  // before this finish may wait
  });
  EXPECT_EQ(after.*field - before.*field, 1u);
  EXPECT_EQ(after.other_suspensions, 0u);
}

TEST(Statistics, CountsSuspensionsByConstruct) {
  const auto nothing = [] {};
  apgas::mutex lock;
  lock.lock();
  expect_one(
      &statistics::mutex_suspensions, [&] { const std::lock_guard held(lock); },
      [&] { lock.unlock(); });
  apgas::condition_variable changed;
  bool over = false;
  expect_one(
      &statistics::condition_suspensions,
      [&] {
        std::unique_lock held(lock);
        changed.wait(held, [&] { return over; });
      },
      [&] {
        const std::lock_guard held(lock);
        over = true;
        changed.notify_one();
      });
  apgas::semaphore units(0);
  expect_one(
      &statistics::semaphore_suspensions, [&] { units.acquire(); }, [&] { units.release(); });
  apgas::channel<int> values(1);
  expect_one(&statistics::channel_suspensions, [&] { values.receive(); }, [&] { values.send(1); });
  apgas::latch all(1);
  expect_one(&statistics::latch_suspensions, [&] { all.wait(); }, [&] { all.count_down(); });
  apgas::promise<int> later;
  auto value = later.get_future();
  expect_one(&statistics::future_suspensions, [&] { value.get(); }, [&] { later.set_value(1); });
  apgas::sync_var<int> variable;
  expect_one(
      &statistics::variable_suspensions, [&] { variable.read_fe(); },
      [&] { variable.write_ef(1); });
  bool open = false;
  expect_one(
      &statistics::when_suspensions, [&] { apgas::when([&] { return open; }, nothing); },
      [&] { apgas::atomic([&] { open = true; }); });
  std::atomic<bool> done = false;
  expect_one(
      &statistics::blocking_suspensions, [&] { apgas::blocking([&] { done.wait(false); }); },
      [&] {
        done = true;
        done.notify_one();
      });
  apgas::semaphore child(0);
  std::atomic<bool> begun = false;
  expect_one(
      &statistics::finish_suspensions,
      [&] {
        apgas::finish([&] {
          apgas::async([&] {
            begun = true;
            child.acquire();
          });
          while (!begun) apgas::yield();  // so that the child has a stack of its own
        });
      },
      [&] { child.release(); });
  // A worker that gets no processor for a millisecond finds that the time is over, and yields.
  const auto sleeps = [] { return apgas::stats().sleep_suspensions; };
  expect_one(
      &statistics::sleep_suspensions,
      [&] {
        const std::uint64_t before = sleeps();
        while (sleeps() == before) apgas::sleep_for(std::chrono::milliseconds(1));
      },
      nothing);
}

// Waits that several tasks or places take part in, so that their number is not the same in each
// run.
TEST(Statistics, CountsSuspensionsInCallsAndPhases) {
  const auto expect_some = [](std::uint64_t statistics::* field, auto waits) {
    const std::uint64_t before = apgas::stats().*field;
    apgas::finish([&] { waits([=] { return apgas::stats().*field != before; }); });
    EXPECT_GT(apgas::stats().*field, before);
  };
  using std::chrono::milliseconds;
  expect_some(&statistics::yield_suspensions, [](auto counted) {
    while (!counted()) {
      apgas::async([] {});
      apgas::yield();
    }
  });
  expect_some(&statistics::phaser_suspensions, [](auto counted) {
    const apgas::phaser ph;
    for (const bool late : {false, true}) {
      apgas::async(apgas::phased(ph, apgas::phaser_mode::signal_wait), [=] {
        while (late && !counted()) apgas::yield();
        ph.next();
      });
    }
    ph.drop();
  });
  if (apgas::num_places() == 1) return;
  // A task whose worker gets no processor for 20 ms finds that the wait is over, and goes on.
  expect_some(&statistics::at_suspensions, [](auto counted) {
    while (!counted()) {
      apgas::at(test::last(), [] { apgas::sleep_for(milliseconds(20)); });
    }
  });
  expect_some(&statistics::team_suspensions, [](auto counted) {
    while (!counted()) {
      apgas::finish([] {
        for (const apgas::place p : apgas::places()) {
          apgas::async_at(p, [] {
            if (apgas::here().id() != 0) apgas::sleep_for(milliseconds(20));
            apgas::team::world().barrier();
          });
        }
      });
    }
  });
}

TEST(Statistics, CountsPhasesAndTheWaitsForThem) {
  constexpr std::uint64_t tasks = 8;
  constexpr std::uint64_t phases = 50;
  const statistics before = apgas::stats();
  apgas::clocked_finish([&] {
    for (std::uint64_t i = 0; i < tasks; ++i) {
      apgas::clocked_async([] {
        for (std::uint64_t p = 0; p < phases; ++p) apgas::clock::advance_all();
      });
    }
  });
  const statistics after = apgas::stats();
  EXPECT_EQ(after.clock_phases - before.clock_phases, phases);
  EXPECT_EQ(after.phaser_phases, before.phaser_phases);
  // The task that comes last may go on at once.
  EXPECT_GE(after.clock_suspensions - before.clock_suspensions, (tasks - 1) * phases);
  EXPECT_LE(after.clock_suspensions - before.clock_suspensions, tasks * phases);
}

TEST(Statistics, CountsPhasesAtTheHomeOfAPhaser) {
  constexpr std::uint64_t phases = 20;
  const statistics before = apgas::stats_all();
  const statistics here_before = apgas::stats();
  apgas::finish([] {
    const apgas::phaser ph;
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, apgas::phased(ph, apgas::phaser_mode::signal_wait), [ph] {
        for (std::uint64_t i = 0; i < phases; ++i) ph.next();
      });
    }
    ph.drop();
  });
  EXPECT_EQ(apgas::stats().phaser_phases - here_before.phaser_phases, phases);
  const statistics after = apgas::stats_all();
  EXPECT_EQ(after.phaser_phases - before.phaser_phases, phases) << "at no other place";
}

[[gnu::noinline]] void touch(volatile char* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; i += 1024) bytes[i] = 1;
}

TEST(Statistics, KnowsTheDeepestStack) {
  constexpr std::size_t room = std::size_t{64} << 10;
  const std::uint64_t before = apgas::stats().deepest_stack;
  apgas::finish([] {
    apgas::async([] {
      char frame[2 * room];
      touch(frame, sizeof frame);
    });
  });
  const std::uint64_t deep = apgas::stats().deepest_stack;
  EXPECT_GE(deep, 2 * room);
  EXPECT_LE(deep, std::max<std::uint64_t>(before, 3 * room));
  EXPECT_EQ(apgas::stats().deepest_stack, deep) << "the stack was left";
}

TEST(Statistics, ThievesTry) {
  const statistics s = apgas::stats();
  EXPECT_GE(s.steal_attempts, s.steals);
}

TEST(Statistics, SerialisationIsNotTimedUnasked) {
  apgas::at(test::last(), [](const std::vector<std::string>&) {}, std::vector<std::string>(100));
  EXPECT_EQ(apgas::stats_all().serialization_ns, 0u);
}

TEST(Statistics, CountsFramesByKind) {
  if (apgas::num_places() == 1) return;  // no frames
  constexpr std::uint64_t calls = 100;
  const apgas::place other = test::last();
  const statistics here_before = apgas::stats();
  const statistics there_before = apgas::at(other, [] { return apgas::stats(); });
  for (std::uint64_t i = 0; i < calls; ++i) {
    apgas::at(other, [] {});
  }
  const statistics here = apgas::stats();
  const statistics there = apgas::at(other, [] { return apgas::stats(); });
  EXPECT_GE(here.frames_sent - here_before.frames_sent, calls);
  EXPECT_GE(here.reply_frames_received - here_before.reply_frames_received, calls);
  EXPECT_GE(there.task_frames_received - there_before.task_frames_received, calls);
  EXPECT_GE(there.task_bytes_received - there_before.task_bytes_received, calls * 32);
  EXPECT_GE(here.reply_bytes_received - here_before.reply_bytes_received, calls * 32);
}

TEST(Statistics, SumsAreMadeFieldByField) {
  statistics sum{.places = 1, .workers = 2, .elapsed_ns = 5, .steals = 3};
  sum += statistics{.places = 1, .workers = 1, .elapsed_ns = 7, .steals = 4, .bytes_sent = 9};
  EXPECT_EQ(sum.places, 2u);
  EXPECT_EQ(sum.workers, 3u);
  EXPECT_EQ(sum.elapsed_ns, 7u) << "the longest time, not the sum";
  EXPECT_EQ(sum.steals, 7u);
  EXPECT_EQ(sum.bytes_sent, 9u);
}

TEST(Statistics, OutsideATask) {
  std::thread([] {
    EXPECT_THROW(apgas::stats(), apgas::illegal_operation);
    EXPECT_THROW(apgas::stats_all(), apgas::illegal_operation);
  }).join();
  apgas::atomic([] {
    EXPECT_NO_THROW(apgas::stats());
    EXPECT_THROW(apgas::stats_all(), apgas::illegal_operation);
  });
}

}  // namespace

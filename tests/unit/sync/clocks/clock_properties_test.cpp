// SPDX-License-Identifier: Apache-2.0

// Two of the properties that the uClocks paper asks for, checked by counting: no more threads run
// than there are workers (DP2), and a phase of n tasks takes O(n) operations (DP3). DP1 is checked
// in unrelated_test.cpp.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clocked;
using apgas::finish;
using apgas::test::scaled;
using apgas::test::task_place;

apgas::sync::phaser_tree_node::counts counts_of(const clock& c) {
  return apgas::sync::registration_of(*apgas::scheduler::current_fiber(),
                                      apgas::clock_access::id(c), apgas::sync::phase_kind::clock,
                                      "test")
      .node->core()
      .count();
}

// n tasks advance `phases` times. Returns what the clock counted in these phases.
apgas::sync::phaser_tree_node::counts phases_of(int n, int phases) {
  apgas::sync::phaser_tree_node::counts before;
  apgas::sync::phaser_tree_node::counts after;
  finish([&] {
    auto c = clock::make();
    for (int i = 0; i < n; ++i) {
      async(clocked(c), [c, phases] {
        for (int k = 0; k < phases + 2; ++k) c.advance();
      });
    }
    c.advance();
    before = counts_of(c);
    for (int k = 0; k < phases; ++k) c.advance();
    after = counts_of(c);
  });
  return {after.phases - before.phases, after.parked - before.parked,
          after.updates - before.updates};
}

struct threads {
  int all = 0;
  int running = 0;
};

// The threads of this process, except the calling one. The main thread, which only waits for the
// others, does not count as running: it may be about to wait.
threads count_threads() {
  threads n;
  const std::string self = std::to_string(gettid());
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (entry.path().filename() == self) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto at = line.rfind(')');
    if (at == std::string::npos) continue;  // the thread has just ended
    ++n.all;
    if (line[at + 2] == 'R' && entry.path().filename() != std::to_string(getpid())) ++n.running;
  }
  return n;
}

TEST(ClockProperties, Dp2NoMoreThreadsRunThanWorkers) {
  // The thread sanitizer starts a thread of its own with the first one. A thread that was joined
  // may be listed for a moment.
  pid_t ended = 0;
  std::thread([&] { ended = gettid(); }).join();
  while (std::filesystem::exists("/proc/self/task/" + std::to_string(ended))) {
    std::this_thread::yield();
  }
  const int outside = count_threads().all;
  task_place place(task_place::exactly(2));
  const int tasks = scaled(10'000, 1'000, 3'000);
  std::atomic<bool> begun{false};
  std::atomic<bool> over{false};
  constexpr int enough_samples = 6;
  std::atomic<int> samples{0};
  int most_running = 0;
  int most = 0;
  std::thread sampler([&] {
    while (!begun) std::this_thread::yield();
    for (;;) {
      const threads n = count_threads();
      if (over) return;  // after the run, the thread that waits for it runs, too
      most = std::max(most, n.all);
      most_running = std::max(most_running, n.running);
      ++samples;
    }
  });
  place.run([&] {
    begun = true;
    do {
      static_cast<void>(phases_of(tasks, scaled(200, 10)));
    } while (samples < enough_samples);
    over = true;
  });
  sampler.join();
  // The thread sanitizer has a thread of its own.
  EXPECT_LE(most_running, APGAS_THREAD_SANITIZER != 0 ? 3 : 2);
  EXPECT_EQ(most, outside + 1 + 2) << "the waiting thread and the workers";
}

TEST(ClockProperties, Dp3OperationsPerPhaseGrowWithTheTasks) {
  for (const int workers : {1, 2}) {
    task_place place(workers);
    place.run([&] {
      for (const int n : {64, 512, 4096, scaled(65'536, 1'500, 8'192)}) {
        constexpr int phases = 10;
        const auto before = place.tasks().stats();
        const auto counted = phases_of(n, phases);
        const auto after = place.tasks().stats();
        const auto all = static_cast<std::uint64_t>(n + 1) * phases;
        EXPECT_EQ(counted.phases, static_cast<std::uint64_t>(phases));
        // A task is parked and resumed once per phase, except the last task of each phase. Some
        // tasks are in the next phase already when the numbers are read.
        const auto at_most_ahead = static_cast<std::uint64_t>(n);
        EXPECT_LE(counted.parked, all + at_most_ahead) << n;
        EXPECT_GE(counted.parked + at_most_ahead, all - 2 * phases) << n;
        // The lock is taken once for a block of tasks, not once for each task.
        EXPECT_LE(counted.updates, all / 8 + 64 * phases) << n;
        // What the scheduler does for these tasks and their spawns: switches; steals, each of which
        // finds a task to run; the tasks that the steals move, a whole block at first and fewer
        // later; and sleeps, each of which ends because a task is ready.
        EXPECT_LE(after.suspensions - before.suspensions, 3 * all + 1000) << n;
        EXPECT_LE(after.steals - before.steals, 3 * all + 1000) << n;
        EXPECT_LE(after.stolen - before.stolen, 2 * all + 8 * (after.steals - before.steals)) << n;
        EXPECT_LE(after.sleeps - before.sleeps, 3 * all + 1000) << n;
      }
    });
  }
}

}  // namespace

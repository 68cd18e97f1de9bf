// SPDX-License-Identifier: Apache-2.0
// Clocks of places with many workers, which become trees when they have many tasks.
#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::clock;
using apgas::clocked;
using apgas::test::scaled;
using apgas::test::task_place;

constexpr int many_workers = 20;

void run_with_many_workers(const std::function<void()>& body) {
  task_place place(task_place::exactly(many_workers));
  place.run(body);
}

const apgas::sync::phase_core& core_of(const clock& c) {
  return apgas::sync::registration_of(*apgas::scheduler::current_fiber(),
                                      apgas::clock_access::id(c), apgas::sync::phase_kind::clock,
                                      "test")
      .node->core();
}

// Counts for each phase how many tasks have arrived, and how many went on before all had.
class arrivals {
 public:
  explicit arrivals(int phases) : arrived_(static_cast<std::size_t>(phases)) {}
  void arrive(int phase) { ++arrived_[static_cast<std::size_t>(phase)]; }
  void pass(int phase, int expected) {
    if (arrived_[static_cast<std::size_t>(phase)] != expected) ++early_;
  }
  int early() const { return early_; }

 private:
  std::vector<std::atomic<int>> arrived_;
  std::atomic<int> early_{0};
};

std::size_t leaves_with(int workers, int tasks) {
  std::size_t leaves = 0;
  task_place place(task_place::exactly(workers));
  place.run([&] {
    const clock c = clock::make();
    for (int i = 0; i < tasks; ++i) async(clocked(c), [c] { c.advance(); });
    c.advance();
    leaves = core_of(c).leaves();
  });
  return leaves;
}

TEST(GrownClock, HasALeafForEachEightWorkersIfThereAreManyTasksAndWorkers) {
  EXPECT_EQ(leaves_with(16, 200), 1U);
  EXPECT_EQ(leaves_with(17, 8), 1U);
  EXPECT_EQ(leaves_with(17, 200), 3U);
  EXPECT_EQ(leaves_with(40, 200), 5U);
}

TEST(GrownClock, NoTaskIsAheadOfOthers) {
  static constexpr int tasks = 300;
  static constexpr int phases = scaled(50, 10);
  arrivals all(phases);
  run_with_many_workers([&] {
    const clock c = clock::make();
    for (int i = 0; i < tasks; ++i) {
      async(clocked(c), [&all, c, i] {
        for (int p = 0; p < phases; ++p) {
          if (i % 7 == p % 7) apgas::yield();  // so that some change workers
          all.arrive(p);
          if (i % 3 == 0) {
            c.resume();
            c.advance();
          } else if (i % 3 == 1) {
            c.advance_eager();
          } else {
            c.advance();
          }
          all.pass(p, tasks);
        }
      });
    }
    c.drop();
  });
  EXPECT_EQ(all.early(), 0);
}

// The first tasks have arrived at the only tree node before it gets a parent.
TEST(GrownClock, GrowsWhileTasksWait) {
  static constexpr int first = 20;
  static constexpr int more = 300;
  for (int r = 0; r < scaled(20, 3); ++r) {
    arrivals all(2);
    run_with_many_workers([&] {
      const clock c = clock::make();
      const auto member = [&all, c] {
        for (int p = 0; p < 2; ++p) {
          all.arrive(p);
          c.advance();
          all.pass(p, first + more);
        }
      };
      for (int i = 0; i < first; ++i) async(clocked(c), member);
      apgas::yield();
      EXPECT_FALSE(core_of(c).is_tree());
      for (int i = 0; i < more; ++i) async(clocked(c), member);
      EXPECT_TRUE(core_of(c).is_tree());
      c.drop();
    });
    EXPECT_EQ(all.early(), 0);
  }
}

// Several tasks find the clock crowded at once; each registers further tasks in each phase, which
// leave the clock in different phases.
TEST(GrownClock, TasksComeAndGoAtAllLeaves) {
  static constexpr int phases = scaled(30, 6);
  constexpr int spawners = 30;
  std::atomic<int> ended{0};
  run_with_many_workers([&] {
    const clock c = clock::make();
    for (int i = 0; i < spawners; ++i) {
      async(clocked(c), [&ended, c, i] {
        for (int p = 0; p < phases; ++p) {
          async(clocked(c), [&ended, c, i, p] {
            for (int k = 0; k < (i + p) % 4; ++k) c.advance();
            ++ended;
          });
          c.advance();
        }
      });
    }
    c.drop();
  });
  EXPECT_EQ(ended, spawners * phases);
}

// When all tasks but one have left, phases go on for that one.
TEST(GrownClock, LastsLongerThanMostOfItsTasks) {
  int phases = 0;
  run_with_many_workers([&] {
    const clock c = clock::make();
    for (int i = 0; i < 200; ++i) async(clocked(c), [c] { c.advance(); });
    for (; phases < 100; ++phases) c.advance();
  });
  EXPECT_EQ(phases, 100);
}

}  // namespace

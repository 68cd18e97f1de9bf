// SPDX-License-Identifier: Apache-2.0
// Phasers with trees so wide that a phase advance takes long: the tests check what happens while
// some leaves have advanced and others have not.
#include <atomic>
#include <cstddef>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include <apgas/phaser.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::test::run_tasks;
using apgas::test::scaled;

void work() {
  for (int i = 0; i < 100'000; ++i) asm volatile("");
}

// Holds the phase open for a while, so that the waiting task is resumed by another worker, in the
// middle of that worker's phase advance.
void hold(const phaser& ph) { async(phased(ph, phaser_mode::signal), work); }

// A child that starts at a leaf which has not advanced yet waits for its own phase, not for the
// leaf's.
TEST(PhaserTree, AChildStartsAtALeafThatIsBehind) {
  for (int r = 0; r < scaled(20, 2); ++r) {
    run_tasks(3, [&] {
      std::atomic<int> early{0};
      finish([&] {
        const phaser ph(phaser_mode::signal_wait, 2, 1024);
        for (int k = 0; k < scaled(100, 20); ++k) {
          hold(ph);
          ph.next();
          auto signalled = std::make_shared<std::atomic<bool>>(false);
          for (int c = 0; c < 2; ++c) {
            async(phased(ph, phaser_mode::signal_wait), [&early, ph, signalled] {
              ph.next();
              if (!signalled->load()) ++early;
            });
          }
          work();
          signalled->store(true);
          ph.next();
        }
      });
      EXPECT_EQ(early, 0);
    });
  }
}

// The closure of next_single runs although the leaves that advance last complete the phase.
TEST(PhaserTree, NextSingleWhileLeavesAdvance) {
  for (int r = 0; r < scaled(20, 2); ++r) {
    run_tasks(2, [&] {
      int closures = 0;
      const int phases = scaled(100, 20);
      finish([&] {
        const phaser ph(phaser_mode::signal_wait_next, 2, 8);
        for (int k = 0; k < phases; ++k) {
          hold(ph);
          ph.next();
          ph.next_single([&closures] { ++closures; });
        }
      });
      EXPECT_EQ(closures, phases);
    });
  }
}

// How many leaves a phaser has for this number of workers.
std::size_t leaves_of(int workers, int tiers, int degree) {
  std::set<const void*> leaves;
  apgas::test::task_place place(apgas::test::task_place::exactly(workers));
  place.run([&] {  // run() wraps its body in a finish
    const phaser ph(phaser_mode::signal_wait, tiers, degree);
    const auto& core = apgas::sync::registration_of(*apgas::scheduler::current_fiber(),
                                                    apgas::phaser_access::id(ph),
                                                    apgas::sync::phase_kind::phaser, "test")
                           .node->core();
    for (int w = 0; w < workers; ++w) leaves.insert(&core.leaf_of(place.tasks().worker_at(w)));
    EXPECT_EQ(core.is_tree(), leaves.size() > 1);
    for (int i = 0; i < 2 * workers; ++i) {
      async(phased(ph, phaser_mode::signal_wait), [ph] { ph.next(); });
    }
    ph.next();
  });
  return leaves.size();
}

TEST(PhaserTree, AutomaticIsOneTierUpTo16WorkersAndATreeAbove) {
  constexpr int automatic = phaser::automatic;
  EXPECT_EQ(leaves_of(1, automatic, automatic), 1U);
  EXPECT_EQ(leaves_of(16, automatic, automatic), 1U);
  EXPECT_EQ(leaves_of(17, automatic, automatic), 3U) << "8 workers for each leaf";
  EXPECT_EQ(leaves_of(33, automatic, automatic), 5U);
  // If only the degree is given, it determines the tiers; if only the tiers are given, they
  // determine the degree.
  EXPECT_EQ(leaves_of(2, automatic, 2), 1U);
  EXPECT_EQ(leaves_of(3, automatic, 2), 2U);
  EXPECT_EQ(leaves_of(4, 1, automatic), 1U);
  EXPECT_EQ(leaves_of(4, 2, automatic), 2U);
  EXPECT_EQ(leaves_of(4, 3, automatic), 4U);
}

}  // namespace

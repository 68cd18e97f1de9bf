// SPDX-License-Identifier: Apache-2.0
// Phasers whose tree is so wide that a roll takes long: what happens while some leaves have rolled
// and others have not.
#include <atomic>
#include <memory>

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

// Keeps the phase from completing for a while, so that the task that waits is resumed by another
// worker, in the middle of its roll.
void hold(const phaser& ph) { async(phased(ph, phaser_mode::signal), work); }

// A child that starts at a leaf that has not rolled waits for its own phase, not for that one.
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

// The closure of next_single runs though the leaves that roll last complete the phase.
TEST(PhaserTree, NextSingleWhileLeavesRoll) {
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

}  // namespace

// SPDX-License-Identifier: Apache-2.0

// Misuse of phasers: each error says what to do, loses no task and causes no hang.

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <apgas/accumulator.hpp>
#include <apgas/errors.hpp>
#include <apgas/phaser.hpp>
#include <apgas/yield.hpp>

#include "support/message_of.hpp"
#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::phaser_use_error;
using apgas::test::message_of;
using apgas::test::run_tasks;

template <class F>
void expect_refused(const std::string& operation, F f) {
  const std::string said = message_of<phaser_use_error>(f);
  EXPECT_EQ(said.find(operation + " was called by a task that is not registered"), 0U) << said;
  EXPECT_NE(said.find("has dropped it"), std::string::npos) << said;
}

TEST(PhaserErrors, ModesAndCapabilities) {
  run_tasks(2, [] {
    finish([] {
      phaser ph(phaser_mode::signal_wait_next);
      async(phased(ph, phaser_mode::signal), [ph] {
        EXPECT_NE(message_of<phaser_use_error>([&] { ph.wait(); }).find("mode signal"),
                  std::string::npos);
        EXPECT_THROW(ph.next_single([] {}), phaser_use_error);
        EXPECT_THROW(async(phased(ph, phaser_mode::wait), [] {}), phaser_use_error);
        EXPECT_THROW(async(phased(ph, phaser_mode::signal_wait), [] {}), phaser_use_error);
        async(phased(ph, phaser_mode::signal), [] {});
        ph.next();  // only signals
        EXPECT_EQ(ph.phase(), 1);
      });
      async(phased(ph, phaser_mode::wait), [ph] {
        EXPECT_NE(message_of<phaser_use_error>([&] { ph.signal(); }).find("mode wait"),
                  std::string::npos);
        EXPECT_THROW(async(phased(ph, phaser_mode::signal), [] {}), phaser_use_error);
        async(phased(ph, phaser_mode::wait), [] {});
      });
      async(phased(ph, phaser_mode::signal_wait), [ph] {
        EXPECT_THROW(ph.next_single([] {}), phaser_use_error);
        EXPECT_THROW(async(phased(ph, phaser_mode::signal_wait_next), [] {}), phaser_use_error);
        async(phased(ph, phaser_mode::signal), [] {});
        async(phased(ph, phaser_mode::wait), [] {});
      });
      ph.signal();
      EXPECT_THROW(ph.next_single([] {}), phaser_use_error) << "the phase may be over";
      ph.wait();
    });
  });
}

TEST(PhaserErrors, UnregisteredAndDropped) {
  run_tasks(2, [] {
    finish([] {
      phaser ph;
      async([ph] {
        EXPECT_THROW(ph.next(), phaser_use_error);
        EXPECT_THROW(ph.signal(), phaser_use_error);
        EXPECT_THROW(ph.wait(), phaser_use_error);
        EXPECT_THROW(ph.drop(), phaser_use_error);
        EXPECT_THROW(static_cast<void>(ph.phase()), phaser_use_error);
      });
      ph.drop();
      EXPECT_THROW(ph.next(), phaser_use_error);
      EXPECT_FALSE(ph.registered());
      phaser outer;
      finish([&] {
        EXPECT_NE(message_of<phaser_use_error>([&] {
                    async(phased(outer, phaser_mode::wait), [] {});
                  }).find("innermost"),
                  std::string::npos);
        EXPECT_THROW(async(phased(), [] {}), phaser_use_error);
        const phaser inner;
        const auto both = phased(inner, phaser_mode::wait, outer, phaser_mode::wait);
        EXPECT_THROW(async(both, [] {}), phaser_use_error);
      });
    });
  });
}

TEST(PhaserErrors, EveryOperationAfterDropNamesItself) {
  for (const auto mode : {phaser_mode::signal_wait_next, phaser_mode::signal_wait,
                          phaser_mode::signal, phaser_mode::wait}) {
    run_tasks(2, [mode] {
      finish([mode] {
        const phaser ph(phaser_mode::signal_wait_next);
        const apgas::accumulator<int> sum(ph);
        async(phased(ph, mode), [=] {
          ph.drop();
          EXPECT_FALSE(ph.registered());
          expect_refused("phaser::drop", [&] { ph.drop(); });
          expect_refused("phaser::next", [&] { ph.next(); });
          expect_refused("phaser::next_single", [&] { ph.next_single([] {}); });
          expect_refused("phaser::signal", [&] { ph.signal(); });
          expect_refused("phaser::wait", [&] { ph.wait(); });
          expect_refused("phaser::phase", [&] { static_cast<void>(ph.phase()); });
          expect_refused("accumulator", [&] { const apgas::accumulator<int> another(ph); });
          expect_refused("accumulator::send", [&] { sum.send(1); });
          expect_refused("accumulator::result", [&] { static_cast<void>(sum.result()); });
          expect_refused("async", [&] { async(phased(ph, mode), [] {}); });
          expect_refused("async_future",
                         [&] { static_cast<void>(apgas::async_future(phased(ph, mode), [] {})); });
          apgas::next();           // has no effect
          async(phased(), [] {});  // neither has this
        });
        ph.next();
        EXPECT_EQ(sum.result(), 0);
      });
    });
  }
}

// The second drop must not deregister another task.
TEST(PhaserErrors, DroppingTwiceCountsOnce) {
  for (const int tiers : {1, 2}) {
    run_tasks(1, [tiers] {
      finish([tiers] {
        const phaser ph(phaser_mode::signal_wait, tiers);
        int passed = 0;
        for (int i = 0; i < 3; ++i) {
          async(phased(ph, phaser_mode::signal_wait), [&passed, ph] {
            ph.next();
            ++passed;
          });
        }
        async(phased(ph, phaser_mode::signal_wait), [ph] {
          ph.drop();
          for (int k = 0; k < 5; ++k) EXPECT_THROW(ph.drop(), phaser_use_error);
        });
        for (int k = 0; k < 100; ++k) apgas::yield();
        EXPECT_EQ(passed, 0) << "this task has not signalled";
        ph.next();
        for (int k = 0; k < 100 && passed != 3; ++k) apgas::yield();
        EXPECT_EQ(passed, 3);
      });
    });
  }
}

TEST(PhaserErrors, TreesThatAreNotPossible) {
  run_tasks(1, [] {
    EXPECT_THROW(phaser(phaser_mode::signal_wait, -1), phaser_use_error);
    EXPECT_THROW(phaser(phaser_mode::signal_wait, 9), phaser_use_error);
    EXPECT_THROW(phaser(phaser_mode::signal_wait, 2, -3), phaser_use_error);
    EXPECT_THROW(phaser(phaser_mode::signal_wait, 2, 5000), phaser_use_error);
    EXPECT_THROW(phaser(phaser_mode::signal_wait, 8, 4), phaser_use_error);
    const phaser one(phaser_mode::signal_wait, 2, 1);
    one.next();
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <apgas/accumulator.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <apgas/errors.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::accumulator;
using apgas::async;
using apgas::finish;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::phaser_use_error;
using apgas::test::run_tasks;
using apgas::test::scaled;

TEST(Accumulator, SumProductMinMaxOfEveryPhase) {
  for (const int workers : {1, 2, 4}) {
    for (const int tiers : {1, 2}) {
      run_tasks(workers, [&] {
        const int tasks = scaled(100, 30);
        const int phases = scaled(20, 5);
        std::atomic<int> wrong{0};
        finish([&] {
          phaser ph(phaser_mode::signal_wait, tiers, 2);
          const accumulator<std::int64_t> sum(ph);
          const accumulator<std::int64_t, apgas::product> product(ph);
          const accumulator<double, apgas::minimum> least(ph);
          const accumulator<double, apgas::maximum> most(ph);
          for (int i = 0; i < tasks; ++i) {
            async(phased(ph, phaser_mode::signal_wait), [&, ph, sum, product, least, most, i] {
              for (int k = 0; k < phases; ++k) {
                sum.send(i + k);
                sum.send(1);
                product.send(i == k ? 3 : 1);
                least.send(i - 5.5);
                most.send(k * 2.0);
                ph.next();
                const std::int64_t n = tasks;
                if (sum.result() != n * (n - 1) / 2 + n * k + n) ++wrong;
                if (product.result() != (k < tasks ? 3 : 1)) ++wrong;
                if (least.result() != -5.5 || most.result() != k * 2.0) ++wrong;
              }
            });
          }
        });
        EXPECT_EQ(wrong, 0);
      });
    }
  }
}

TEST(Accumulator, AnyOperationOnAnyValue) {
  run_tasks(2, [] {
    finish([] {
      phaser ph;
      const auto join = [](const std::set<int>& a, const std::set<int>& b) {
        std::set<int> both(a);
        both.insert(b.begin(), b.end());
        return both;
      };
      const accumulator all(ph, join, std::set<int>{});
      for (int i = 0; i < 20; ++i) {
        async(phased(ph, phaser_mode::signal), [all, i] { all.send({i}); });
      }
      ph.next();
      EXPECT_EQ(all.result().size(), 20U);
      ph.next();
      EXPECT_TRUE(all.result().empty()) << "no task sent anything in the second phase";
    });
  });
}

constexpr int phases_ahead = 50;

// Spawns as many signal-only tasks as `producing` says.
void spawn_producers(phaser ph, accumulator<int> sum, std::atomic<int>& producing) {
  for (int n = producing; n > 0; --n) {
    async(phased(ph, phaser_mode::signal), [&producing, ph, sum] {
      for (int k = 0; k < phases_ahead; ++k) {
        sum.send(k);
        ph.signal();
      }
      --producing;
    });
  }
}

// The number of wrong sums of three such producers that a wait-only task reads.
int wrong_sums(phaser ph, accumulator<int> sum) {
  int wrong = 0;
  for (int k = 0; k < phases_ahead; ++k) {
    ph.wait();
    if (sum.result() != 3 * k) ++wrong;
  }
  ph.wait();
  return wrong + (sum.result() != 0 ? 1 : 0);  // no task is left to send
}

// Three producers run ahead of the consumers that `rest` spawns, in flat and in tiered phasers.
template <class F>
void run_with_producers(F rest) {
  for (const int tiers : {1, 2}) {
    run_tasks(2, [&] {
      std::atomic<int> wrong{0};
      std::atomic<int> producing{3};
      finish([&] {
        phaser ph(phaser_mode::signal_wait, tiers, 2);
        const accumulator<int> sum(ph);
        spawn_producers(ph, sum, producing);
        rest(ph, sum, producing, wrong);
        ph.drop();
      });
      EXPECT_EQ(wrong, 0);
    });
  }
}

TEST(Accumulator, ProducersAheadAndConsumersBehind) {
  run_with_producers([](phaser ph, accumulator<int> sum, auto& producing, auto& wrong) {
    for (int i = 0; i < 3; ++i) {
      async(phased(ph, phaser_mode::wait), [&, ph, sum, late = i == 0] {
        while (late && producing != 0) apgas::yield();  // by then all phases are over
        wrong += wrong_sums(ph, sum);
      });
    }
  });
}

TEST(Accumulator, ProducersThatHaveEndedBeforeAPhaseIsOver) {
  run_with_producers([](phaser ph, accumulator<int> sum, auto& producing, auto& wrong) {
    async(phased(ph, phaser_mode::wait), [&, ph, sum] { wrong += wrong_sums(ph, sum); });
    while (producing != 0) apgas::yield();  // the last signaller drops in the first phase
  });
}

TEST(Accumulator, ValuesSentBeforeADropCount) {
  run_tasks(2, [] {
    finish([] {
      phaser ph;
      const accumulator<int> sum(ph);
      async(phased(ph, phaser_mode::signal_wait), [sum] { sum.send(5); });
      sum.send(1);
      ph.next();
      EXPECT_EQ(sum.result(), 6);
    });
  });
}

TEST(Accumulator, AnOperationThatThrows) {
  run_tasks(2, [] {
    finish([] {
      phaser ph;
      const auto picky = [](const int& a, const int& b) {
        if (a + b > 100) throw std::overflow_error("too much");
        return a + b;
      };
      const accumulator limited(ph, picky, 0);
      limited.send(60);
      EXPECT_THROW(limited.send(60), std::overflow_error);
      ph.next();
      EXPECT_EQ(limited.result(), 60) << "the earlier values are kept";
      for (int i = 0; i < 3; ++i) {
        async(phased(ph, phaser_mode::signal_wait), [ph, limited] {
          limited.send(20);
          ph.next();
          EXPECT_EQ(limited.result(), 60);
        });
      }
      ph.next();
      EXPECT_EQ(limited.result(), 60);
    });
  });
}

TEST(Accumulator, AnOperationMayNotSuspend) {
  run_tasks(2, [] {
    phaser ph;
    const auto yields = [](const int& a, const int& b) {
      apgas::yield();
      return a + b;
    };
    const accumulator bad(ph, yields, 0);
    EXPECT_THROW(bad.send(1), apgas::illegal_operation);
    ph.next();
    EXPECT_THROW(static_cast<void>(bad.result()), apgas::illegal_operation);
  });
}

TEST(AccumulatorErrors, SendAndResultWhereTheyAreNotAllowed) {
  run_tasks(2, [] {
    finish([] {
      phaser ph;
      const accumulator<int> sum(ph);
      EXPECT_THROW(static_cast<void>(sum.result()), phaser_use_error) << "no phase is complete";
      ph.signal();
      EXPECT_THROW(sum.send(1), phaser_use_error) << "the phase may be over";
      ph.wait();
      EXPECT_EQ(sum.result(), 0);
      async([sum] {
        EXPECT_THROW(sum.send(1), phaser_use_error);
        EXPECT_THROW(static_cast<void>(sum.result()), phaser_use_error);
      });
      async(phased(ph, phaser_mode::wait), [ph, sum] {
        EXPECT_THROW(sum.send(1), phaser_use_error);
        EXPECT_THROW((accumulator<int>(ph)), phaser_use_error);
      });
      async(phased(ph, phaser_mode::signal),
            [sum] { EXPECT_THROW(static_cast<void>(sum.result()), phaser_use_error); });
      const accumulator<int> late(ph);
      EXPECT_THROW(static_cast<void>(late.result()), phaser_use_error) << "made after that phase";
      ph.next();
      EXPECT_EQ(late.result(), 0);
    });
  });
}

}  // namespace

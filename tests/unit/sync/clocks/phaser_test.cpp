// SPDX-License-Identifier: Apache-2.0
#include <apgas/phaser.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::phaser_use_error;
using apgas::test::run_tasks;
using apgas::test::scaled;

struct shape {
  int tiers;
  int degree;
};
constexpr shape shapes[] = {{1, 1}, {2, 2}, {2, 3}, {3, 2}, {0, 0}};

TEST(Phaser, BarrierInEveryShape) {
  for (const int workers : {1, 2, 4}) {
    for (const shape s : shapes) {
      run_tasks(workers, [&] {
        const int tasks = scaled(200, 40);
        const int phases = scaled(30, 5);
        std::vector<int> cells(static_cast<std::size_t>(tasks), 0);
        std::atomic<int> wrong{0};
        finish([&] {
          phaser ph(phaser_mode::signal_wait, s.tiers, s.degree);
          for (int i = 0; i < tasks; ++i) {
            async(phased(ph, phaser_mode::signal_wait), [&, ph, i] {
              for (int k = 1; k <= phases; ++k) {
                cells[static_cast<std::size_t>(i)] = k;
                ph.next();
                if (cells[static_cast<std::size_t>((i + 1) % tasks)] != k) ++wrong;
                ph.next();
              }
            });
          }
        });
        EXPECT_EQ(wrong, 0) << s.tiers << ' ' << s.degree;
      });
    }
  }
}

TEST(Phaser, APipelineOfSignalAndWait) {
  for (const shape s : shapes) {
    run_tasks(2, [&] {
      // Stage i reads what stage i-1 wrote for the same item, many phases later.
      constexpr int stages = 5;
      const int items = scaled(300, 50);
      std::vector<std::vector<int>> value(stages,
                                          std::vector<int>(static_cast<std::size_t>(items)));
      std::atomic<int> wrong{0};
      finish([&] {
        std::vector<phaser> done;
        for (int i = 0; i < stages; ++i) {
          done.emplace_back(phaser_mode::signal_wait, s.tiers, s.degree);
        }
        for (int i = 0; i < stages; ++i) {
          const auto body = [&, i, mine = done[static_cast<std::size_t>(i)],
                             before = done[static_cast<std::size_t>(i > 0 ? i - 1 : 0)]] {
            for (int item = 0; item < items; ++item) {
              int v = item;
              if (i > 0) {
                before.wait();
                v = value[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(item)] + 1;
              }
              value[static_cast<std::size_t>(i)][static_cast<std::size_t>(item)] = v;
              mine.signal();
            }
          };
          const phaser mine = done[static_cast<std::size_t>(i)];
          if (i == 0) {
            async(phased(mine, phaser_mode::signal), body);
          } else {
            async(phased(mine, phaser_mode::signal, done[static_cast<std::size_t>(i - 1)],
                         phaser_mode::wait),
                  body);
          }
        }
      });
      for (int item = 0; item < items; ++item) {
        if (value[stages - 1][static_cast<std::size_t>(item)] != item + stages - 1) ++wrong;
      }
      EXPECT_EQ(wrong, 0);
    });
  }
}

TEST(Phaser, ASignallerRunsAheadAndItsSignalsCount) {
  for (const shape s : shapes) {
    run_tasks(1, [&] {
      std::atomic<int> seen{0};
      finish([&] {
        phaser ph(phaser_mode::signal_wait, s.tiers, s.degree);
        async(phased(ph, phaser_mode::wait), [&, ph] {
          for (int k = 0; k < 100; ++k) {
            ph.wait();
            EXPECT_EQ(ph.phase(), k + 1);
            ++seen;
          }
        });
        async(phased(ph, phaser_mode::signal), [ph] {
          for (int k = 0; k < 100; ++k) ph.signal();
          EXPECT_EQ(ph.phase(), 100);
        });
      });
      EXPECT_EQ(seen, 100);
    });
  }
}

TEST(Phaser, WaitNeverBlocksWithoutSignallers) {
  for (const shape s : shapes) {
    run_tasks(2, [&] {
      finish([&] {
        phaser ph(phaser_mode::signal_wait, s.tiers, s.degree);
        async(phased(ph, phaser_mode::wait), [ph] {
          for (int k = 0; k < 50; ++k) ph.wait();
          EXPECT_EQ(ph.phase(), 50);
        });
        ph.next();
        ph.drop();
      });
      phaser alone(phaser_mode::wait);
      alone.wait();
      alone.next();
      EXPECT_EQ(alone.phase(), 2);
    });
  }
}

TEST(Phaser, NoTaskWaitsForWaitOnlyTasks) {
  run_tasks(2, [] {
    std::atomic<bool> stop{false};
    finish([&] {
      phaser ph;
      async(phased(ph, phaser_mode::wait), [&] {
        while (!stop) apgas::yield();
      });
      for (int k = 0; k < 20; ++k) ph.next();
      EXPECT_EQ(ph.phase(), 20);
      stop = true;
    });
  });
}

TEST(Phaser, NextSingleRunsOncePerPhase) {
  for (const int workers : {1, 2, 4}) {
    for (const shape s : shapes) {
      run_tasks(workers, [&] {
        const int tasks = 20;
        int phases = scaled(50, 10);
        int count = 0;  // not atomic: only one task at a time uses it, between two phases
        std::atomic<int> wrong{0};
        finish([&] {
          phaser ph(phaser_mode::signal_wait_next, s.tiers, s.degree);
          for (int i = 0; i < tasks; ++i) {
            async(phased(ph, phaser_mode::signal_wait_next), [&, ph] {
              for (int k = 1; k <= phases; ++k) {
                ph.next_single([&] { ++count; });
                if (count != k) ++wrong;
                ph.next();
              }
            });
          }
          for (int i = 0; i < 5; ++i) {  // plain barriers in between
            async(phased(ph, phaser_mode::signal_wait), [ph, phases] {
              for (int k = 0; k < 2 * phases; ++k) ph.next();
            });
          }
        });
        EXPECT_EQ(count, phases);
        EXPECT_EQ(wrong, 0);
      });
    }
  }
}

TEST(Phaser, NextSingleMaySpawnAndSuspendAndThrow) {
  run_tasks(2, [] {
    std::atomic<int> spawned{0};
    std::atomic<int> caught{0};
    std::atomic<int> after{0};
    finish([&] {
      phaser ph(phaser_mode::signal_wait_next);
      for (int i = 0; i < 6; ++i) {
        async(phased(ph, phaser_mode::signal_wait_next), [&, ph] {
          try {
            ph.next_single([&] {
              async([&] { ++spawned; });
              apgas::yield();
              EXPECT_THROW(ph.next(), phaser_use_error);
              EXPECT_THROW(apgas::next(), phaser_use_error);
              EXPECT_THROW(ph.drop(), phaser_use_error);
              throw std::runtime_error("single");
            });
          } catch (const std::runtime_error&) {
            ++caught;
          }
          ph.next();
          ++after;
        });
      }
    });
    EXPECT_EQ(spawned, 1);
    EXPECT_EQ(caught, 1);
    EXPECT_EQ(after, 6);
  });
}

TEST(Phaser, PhasedPassesOnAllRegistrations) {
  run_tasks(2, [] {
    std::atomic<int> done{0};
    finish([&] {
      phaser a;
      phaser b(phaser_mode::signal_wait_next);
      auto c = apgas::clock::make();
      for (int i = 0; i < 10; ++i) {
        async(phased(), [&, a, b, c] {
          c.advance();
          EXPECT_TRUE(a.registered());
          EXPECT_TRUE(b.registered());
          apgas::next();
          EXPECT_EQ(a.phase(), 1);
          EXPECT_EQ(b.phase(), 1);
          const auto nothing = [] {};
          b.next_single(nothing);
          ++done;
        });
      }
    });
    EXPECT_EQ(done, 10);
    async(phased(), [] {});  // there are no registrations to pass on
  });
}

TEST(Phaser, WithAClockInOneSpawn) {
  run_tasks(2, [] {
    std::atomic<int> done{0};
    finish([&] {
      phaser ph;
      auto c = apgas::clock::make();
      const auto both = [&, ph, c] {
        ph.next();
        c.advance();
        return ++done;
      };
      const auto mode = phaser_mode::signal_wait;
      async(apgas::clocked(c), phased(ph, mode), both);
      async(phased(ph, mode), apgas::clocked(c), both);
      async(apgas::name("both"), apgas::clocked(c), phased(ph, mode), both);
      async(apgas::name("all"), phased(), both);
      auto f = apgas::async_future(apgas::clocked(c), phased(ph, mode), both);
      auto g =
          apgas::async_future(apgas::name("future"), apgas::clocked(c), phased(ph, mode), both);
      auto h = apgas::async_future(apgas::name("all of them"), phased(), both);
      EXPECT_THROW(async(apgas::clocked(c), phased(), both), apgas::clock_use_error)
          << "named twice";
      ph.next();
      c.advance();
      EXPECT_GT(f.get() + g.get() + h.get(), 0);
    });
    EXPECT_EQ(done, 7);
  });
}

TEST(Phaser, RegisteringUnderLoad) {
  for (const int workers : {1, 2, 4}) {
    for (const shape s : shapes) {
      run_tasks(workers, [&] {
        std::atomic<int> born{0};
        std::atomic<int> wrong{0};
        const int most = scaled(1000, 200);
        struct grower {
          phaser ph;
          std::atomic<int>& born;
          std::atomic<int>& wrong;
          int most;
          void operator()() const {
            const std::int64_t first = ph.phase();
            for (int k = 0; k < 10; ++k) {
              if (born.fetch_add(1) < most) {
                async(phased(ph, phaser_mode::signal_wait), grower(*this));
                if (k % 3 == 0) async(phased(ph, phaser_mode::signal), [p = ph] { p.signal(); });
                if (k % 3 == 1) async(phased(ph, phaser_mode::wait), [p = ph] { p.wait(); });
              }
              ph.next();
              if (ph.phase() != first + k + 1) ++wrong;
            }
          }
        };
        finish([&] {
          phaser ph(phaser_mode::signal_wait, s.tiers, s.degree);
          async(phased(ph, phaser_mode::signal_wait), grower{ph, born, wrong, most});
        });
        EXPECT_GE(born, most);
        EXPECT_EQ(wrong, 0);
      });
    }
  }
}

TEST(Phaser, ATaskThatThrowsIsDroppedAndTheOthersContinue) {
  for (const shape s : shapes) {
    run_tasks(2, [&] {
      std::atomic<int> reached{0};
      try {
        finish([&] {
          const phaser ph(phaser_mode::signal_wait, s.tiers, s.degree);
          const auto body = [&reached, ph](int i) {
            ph.next();
            if (i % 4 == 0) throw std::runtime_error("task " + std::to_string(i));
            ph.next();
            ph.next();
            ++reached;
          };
          for (const auto mode :
               {phaser_mode::signal_wait, phaser_mode::signal, phaser_mode::wait}) {
            for (int i = 0; i < 12; ++i) async(phased(ph, mode), [body, i] { body(i); });
          }
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const apgas::multiple_exceptions& e) {
        EXPECT_EQ(e.size(), 9U);
      }
      EXPECT_EQ(reached, 27);
    });
  }
}

}  // namespace

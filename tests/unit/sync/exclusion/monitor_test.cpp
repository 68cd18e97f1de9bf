// SPDX-License-Identifier: Apache-2.0
#include <apgas/monitor.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/blocking.hpp>
#include <apgas/errors.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::monitor;
using apgas::when;
using apgas::test::run_tasks;
using apgas::test::scaled;

TEST(Atomic, ReturnsTheValueOfItsBody) {
  run_tasks(1, [] {
    EXPECT_EQ(apgas::atomic([] { return std::string("value"); }), "value");
    EXPECT_EQ(*apgas::atomic([] { return std::make_unique<int>(3); }), 3);
    int n = 0;
    apgas::atomic([&] { ++n; });
    EXPECT_EQ(n, 1);
  });
}

TEST(Atomic, SectionsExcludeEachOther) {
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [] {
      std::int64_t sum = 0;  // not atomic, so ThreadSanitizer reports a race if there is one
      bool inside = false;
      const int tasks = scaled(200, 40);
      finish([&] {
        for (int i = 0; i < tasks; ++i) {
          async([&] {
            for (int k = 0; k < 50; ++k) {
              apgas::atomic([&] {
                EXPECT_FALSE(inside);
                inside = true;
                ++sum;
                inside = false;
              });
              if (k % 8 == 0) apgas::yield();
            }
          });
        }
      });
      EXPECT_EQ(sum, std::int64_t{tasks} * 50);
    });
  }
}

TEST(Atomic, MayBeNested) {
  run_tasks(2, [] {
    monitor m;
    int n = 0;
    finish([&] {
      for (int i = 0; i < 100; ++i) {
        async([&] {
          apgas::atomic([&] { apgas::atomic([&] { m.atomic([&] { m.atomic([&] { ++n; }); }); }); });
        });
      }
    });
    EXPECT_EQ(n, 100);
  });
}

TEST(Atomic, RefusesSuspendingAndSpawning) {
  run_tasks(2, [] {
    const auto ready = apgas::async_future([] { return 1; });
    ready.wait();
    monitor m;
    const auto refused = [&](auto operation) {
      EXPECT_THROW(apgas::atomic(operation), apgas::illegal_operation);
      EXPECT_THROW(m.atomic(operation), apgas::illegal_operation);
      EXPECT_THROW(when([] { return true; }, operation), apgas::illegal_operation);
      EXPECT_THROW(when([&] { return operation(), true; }, [] {}), apgas::illegal_operation);
    };
    refused([] { apgas::async([] {}); });
    refused([] { apgas::finish([] {}); });
    refused([] { apgas::fork_join([] {}, [] {}); });
    refused([] { apgas::forall(0, 1, [](int) {}); });
    refused([] { apgas::coforall(0, 1, [](int) {}); });
    refused([] { apgas::yield(); });
    refused([] { apgas::sleep_for(std::chrono::milliseconds(0)); });
    refused([] { apgas::blocking([] {}); });
    refused([&] { static_cast<void>(ready.get()); });
    refused([&] { ready.wait(); });
    refused([&] { static_cast<void>(apgas::async_future([] {})); });
    refused([] { apgas::when([] { return true; }, [] {}); });
    refused([&] { m.when([] { return true; }, [] {}); });
    apgas::yield();  // allowed again after the section
  });
}

TEST(Atomic, OutsideATaskThrows) {
  EXPECT_THROW(apgas::atomic([] {}), apgas::illegal_operation);
  EXPECT_THROW(when([] { return true; }, [] {}), apgas::illegal_operation);
}

TEST(Atomic, AnExceptionLeavesTheSection) {
  run_tasks(2, [] {
    EXPECT_THROW(apgas::atomic([] { throw std::domain_error("x"); }), std::domain_error);
    EXPECT_EQ(apgas::atomic([] { return 1; }), 1);
    apgas::async([] {});  // allowed, since the nesting depth is zero again
  });
}

// Every task gets the exception of its own section, whichever task ran it.
TEST(Atomic, ExceptionsReachTheirTaskUnderContention) {
  run_tasks(3, [] {
    finish([] {
      for (int i = 0; i < scaled(500, 100); ++i) {
        async([i] {
          try {
            apgas::atomic([i] {
              if (i % 2 == 0) throw i;
            });
            EXPECT_EQ(i % 2, 1);
          } catch (int thrown) {
            EXPECT_EQ(thrown, i);
          }
        });
      }
    });
  });
}

TEST(When, RunsAtOnceIfTheConditionHolds) {
  run_tasks(1, [] { EXPECT_EQ(when([] { return true; }, [] { return 4; }), 4); });
}

TEST(When, WaitsForTheSectionThatMakesItTrue) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      int stage = 0;
      std::vector<int> order;
      finish([&] {
        for (int i = 4; i >= 0; --i) {
          async([&, i] {
            const int got = when([&, i] { return stage == i; },
                                 [&, i] {
                                   order.push_back(i);
                                   ++stage;
                                   return i * i;
                                 });
            EXPECT_EQ(got, i * i);
          });
        }
      });
      EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
    });
  }
}

// The end of one section releases a chain of waiters, each by the body of the one before.
TEST(When, OneSectionReleasesAChainOfWaiters) {
  run_tasks(2, [] {
    int released = 0;
    const int n = scaled(1000, 100);
    finish([&] {
      for (int i = 1; i <= n; ++i) {
        async([&, i] { when([&, i] { return released == i; }, [&] { ++released; }); });
      }
      apgas::atomic([&] { released = 1; });
    });
    EXPECT_EQ(released, n + 1);
  });
}

TEST(When, ExceptionsOfConditionAndBodyReachOnlyTheWaiter) {
  run_tasks(2, [] {
    bool go = false;
    int well = 0;
    finish([&] {
      async([&] {
        EXPECT_THROW(when(
                         [&] {
                           if (go) throw std::domain_error("condition");
                           return false;
                         },
                         [] {}),
                     std::domain_error);
        apgas::async([] {});  // after the section
      });
      async([&] {
        EXPECT_THROW(when([&] { return go; }, [] { throw std::range_error("body"); }),
                     std::range_error);
      });
      async([&] { when([&] { return go; }, [&] { ++well; }); });
      apgas::sleep_for(std::chrono::milliseconds(2));
      apgas::atomic([&] { go = true; });
    });
    EXPECT_EQ(well, 1);
  });
}

// A body runs with the name of the task that waits, even if another task runs it.
TEST(When, ASectionRunByAnotherTaskKeepsItsName) {
  run_tasks(1, [] {
    bool go = false;
    finish([&] {
      async(apgas::name("waiter"), [&] {
        when([&] { return go; },
             [&] {
               EXPECT_STREQ(apgas::scheduler::current_fiber()->task.name, "waiter");
               EXPECT_NE(apgas::scheduler::current_fiber()->task.rare.atomic_depth, 0U);
             });
        EXPECT_STREQ(apgas::scheduler::current_fiber()->task.name, "waiter");
      });
      apgas::yield();
      apgas::sleep_for(std::chrono::milliseconds(1));
      apgas::atomic([&] { go = true; });
      EXPECT_EQ(apgas::scheduler::current_fiber()->task.name, nullptr);
    });
  });
}

// The task that leaves a monitor tests all waiting conditions and resumes only tasks whose sections
// it has run. So each waiting task leaves its worker once.
TEST(Monitor, ResumesNoTaskInVain) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [workers] {
      apgas::sync::monitor_core m;
      const auto section = [&m](auto condition, auto body) {
        apgas::sync::run_when(m, *apgas::scheduler::current_fiber(), condition, body, {});
      };
      const auto left = [place = apgas::scheduler::current_fiber()->on->home] {
        return place->stats().suspensions;
      };
      constexpr unsigned n = 100;  // few enough that the spawner need not run any of them
      int turn = -1;
      std::atomic<unsigned> waiting{0};
      const std::uint64_t before = left();
      finish([&] {
        for (int i = 0; i < static_cast<int>(n); ++i) {
          async([&, i] {
            ++waiting;
            section([&, i] { return turn == i; }, [] {});
          });
        }
        const unsigned all = workers == 1 ? n + 1 : n;  // on one worker this task waits as well
        if (workers == 1) section([&] { return waiting == n; }, [] {});
        while (left() - before < all) std::this_thread::yield();
        for (int i = 0; i < 10; ++i) section([] { return true; }, [] {});
        EXPECT_EQ(left() - before, all);
        for (int i = 0; i < static_cast<int>(n); ++i) section([] { return true; }, [&] { ++turn; });
        EXPECT_EQ(left() - before, all) << "in " << m.count().tested << " tests of conditions";
        EXPECT_EQ(m.count().run, all);
        EXPECT_EQ(m.count().passed, 0U);
        EXPECT_GE(m.count().tested, 10 * n + n * (n + 1) / 2);
      });
      EXPECT_LE(left() - before, n + 2) << "the finish of this task adds one";
    });
  }
}

// A section that changes nothing tests each waiting condition once.
TEST(Monitor, TestsEveryConditionOnceForEachSection) {
  run_tasks(1, [] {
    apgas::sync::monitor_core m;
    bool go = false;
    int waiting = 0;
    const int n = scaled(1000, 100);
    const auto section = [&](auto condition, auto body) {
      apgas::sync::run_when(m, *apgas::scheduler::current_fiber(), condition, body, {});
    };
    finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&] {
          ++waiting;
          section([&] { return go; }, [] {});
        });
      }
      while (waiting < n) apgas::yield();
      const auto before = m.count().tested;
      auto nothing = [] {};
      for (int i = 0; i < 10; ++i) {
        apgas::sync::run_atomic(m, *apgas::scheduler::current_fiber(), nothing, {});
      }
      EXPECT_EQ(m.count().tested - before, 10U * static_cast<unsigned>(n));
      section([] { return true; }, [&] { go = true; });
    });
  });
}

// Waiters of other monitors cost nothing.
TEST(Monitor, TestsOnlyItsOwnConditions) {
  run_tasks(1, [] {
    apgas::sync::monitor_core busy;
    monitor crowded;
    bool go = false;
    finish([&] {
      for (int i = 0; i < 100; ++i) {
        async([&] { crowded.when([&] { return go; }, [] {}); });
      }
      apgas::yield();
      apgas::scheduler::fiber& self = *apgas::scheduler::current_fiber();
      auto nothing = [] {};
      for (int i = 0; i < 100; ++i) apgas::sync::run_atomic(busy, self, nothing, {});
      EXPECT_EQ(busy.count().tested, 0U);
      EXPECT_EQ(busy.count().entered, 100U);
      crowded.atomic([&] { go = true; });
    });
  });
}

// A waiting task gets the monitor even if others keep arriving, and the task that runs their
// sections gets away.
TEST(Monitor, NoTaskStarves) {
  run_tasks(2, [] {
    monitor m;
    bool stop = false;
    std::int64_t others = 0;
    int in = 0;
    finish([&] {
      for (int i = 0; i < 4; ++i) {
        async([&] {
          for (bool over = false; !over;) {
            over = m.atomic([&] { return ++others, stop; });
            apgas::yield();
          }
        });
      }
      for (int i = 0; i < 20; ++i) {
        const std::int64_t now = m.atomic([&] { return others; });
        m.when([&] { return others > now + 10; }, [&] { ++in; });
      }
      m.atomic([&] { stop = true; });
    });
    EXPECT_EQ(in, 20);
  });
}

// When more sections wait than a task may run for others, the monitor is granted to one of them.
TEST(Monitor, IsGrantedToAWaiterAfterManySections) {
  run_tasks(2, [] {
    apgas::sync::monitor_core m;
    int released = 0;
    const int n = 1000;
    std::atomic<int> arrived{0};
    finish([&] {
      for (int i = 1; i <= n; ++i) {
        async([&, i] {
          ++arrived;
          auto condition = [&, i] { return released == i; };
          auto body = [&] { ++released; };
          apgas::sync::run_when(m, *apgas::scheduler::current_fiber(), condition, body, {});
        });
      }
      while (arrived < n) apgas::yield();
      auto begin = [&] { released = 1; };
      apgas::sync::run_atomic(m, *apgas::scheduler::current_fiber(), begin, {});
    });
    EXPECT_EQ(released, n + 1);
    EXPECT_GT(m.count().passed, 0U);
  });
}

// A section that waits for another monitor keeps its own meanwhile, and the worker does not block.
TEST(Monitor, ASectionMayWaitForAnotherMonitor) {
  run_tasks(1, [] {
    monitor a;
    monitor b;
    int n = 0;
    finish([&] {
      for (int i = 0; i < 100; ++i) {
        async([&] { a.atomic([&] { b.atomic([&] { ++n; }); }); });
        async([&] { b.atomic([&] { ++n; }); });
        async([&] { b.when([&] { return n > 100; }, [&] { ++n; }); });
      }
    });
    EXPECT_EQ(n, 300);
  });
}

}  // namespace

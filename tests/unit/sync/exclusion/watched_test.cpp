// SPDX-License-Identifier: Apache-2.0
#include <apgas/watched.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/errors.hpp>
#include <apgas/yield.hpp>

#include "support/message_of.hpp"
#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::monitor;
using apgas::watched;
using apgas::watching;
using apgas::when;
using apgas::test::run_tasks;
using apgas::test::scaled;

// A task that begins to wait tests the conditions of the others first, and then its own.
TEST(When, ATaskTestsItsOwnConditionUnderItsOwnName) {
  run_tasks(1, [] {
    monitor m;
    bool go_on = false;
    int tested = 0;
    const auto wait_as = [&](const char* name) {
      const auto condition = [&, name] {
        EXPECT_STREQ(apgas::scheduler::current_fiber()->task.name, name);
        ++tested;
        return go_on;
      };
      async(apgas::name(name), [&m, condition] { m.when(condition, [] {}); });
    };
    finish([&] {
      wait_as("first");
      while (tested < 2) apgas::yield();
      wait_as("second");
      while (tested < 5) apgas::yield();  // 2 by the first; then by the second its own, both
      m.atomic([&] { go_on = true; });
    });
  });
}

TEST(Watched, HasAValue) {
  run_tasks(1, [] {
    monitor m;
    const watched<std::string> empty(m);
    EXPECT_EQ(empty.get(), "");
    watched<int> n(m, 3);
    m.atomic([&] { n.set(4); });
    EXPECT_EQ(n.get(), 4);
    EXPECT_EQ(m.atomic([&] { return n.change([](int& k) { return k++; }); }), 4);
    EXPECT_EQ(n.get(), 5);
    watched<std::unique_ptr<int>> only_movable(std::make_unique<int>(1));
    apgas::atomic([&] { only_movable.set(std::make_unique<int>(2)); });
    EXPECT_EQ(*only_movable.get(), 2);
  });
}

TEST(Watched, AWriteReleasesTheTaskThatWatches) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      monitor m;
      watched<int> own(m, 0);
      watched<int> of_the_place(0);
      finish([&] {
        async([&] {
          const int got = m.when(watching(own), [&] { return own.get() == 2; }, [] { return 7; });
          EXPECT_EQ(got, 7);
          apgas::atomic([&] { of_the_place.set(1); });
        });
        async(
            [&] { when(watching(of_the_place), [&] { return of_the_place.get() == 1; }, [] {}); });
        apgas::yield();
        m.atomic([&] { own.set(1); });
        m.atomic([&] { own.set(2); });
      });
    });
  }
}

// A section tests the conditions that watch what it wrote, and no others.
TEST(Watched, OnlyTheConditionsOfWrittenCellsAreTested) {
  run_tasks(1, [] {
    monitor m;
    constexpr int cells = 20;
    const int each = scaled(50, 5);
    std::deque<watched<int>> cell;
    for (int i = 0; i < cells; ++i) cell.emplace_back(m, 0);
    std::vector<int> tested(cells, 0);
    int waiting = 0;
    finish([&] {
      for (int i = 0; i < cells * each; ++i) {
        async([&, k = static_cast<std::size_t>(i % cells)] {
          ++waiting;
          m.when(watching(cell[k]), [&, k] { return ++tested[k], cell[k].get() == 2; }, [] {});
        });
      }
      while (waiting < cells * each) apgas::yield();
      std::fill(tested.begin(), tested.end(), 0);
      for (int i = 0; i < 10; ++i) m.atomic([] {});
      m.atomic([&] { cell[3].set(1); });
      for (std::size_t i = 0; i < cells; ++i) EXPECT_EQ(tested[i], i == 3 ? each : 0);
      m.atomic([&] {
        for (auto& c : cell) c.set(2);
      });
    });
    EXPECT_EQ(tested[0], each);
  });
}

// Whatever they watch, of the tasks whose conditions are true the longest waiting proceeds first.
TEST(Watched, TheLongestWaitingTaskProceedsFirst) {
  run_tasks(1, [] {
    monitor m;
    watched<int> a(m, 0);
    watched<int> b(m, 0);
    bool open = false;
    std::vector<int> order;
    int waiting = 0;
    finish([&] {
      for (int i = 0; i < 12; ++i) {
        async([&, i] {
          ++waiting;
          const auto opened = [&] { return open; };
          const auto note = [&, i] { order.push_back(i); };
          switch (i % 4) {
            case 0:
              return m.when(watching(a), opened, note);
            case 1:
              return m.when(watching(b), opened, note);
            case 2:
              return m.when(watching(b, a, b), opened, note);
            default:
              return m.when(opened, note);
          }
        });
        while (waiting == i) apgas::yield();
      }
      m.atomic([&] {
        open = true;
        b.set(1);
        a.set(1);
      });
    });
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  });
}

// A body that runs for another task writes cells as well.
TEST(Watched, ASectionReleasesAChainOfWaiters) {
  run_tasks(2, [] {
    monitor m;
    const int n = scaled(500, 50);  // more than a task runs for others
    std::deque<watched<bool>> reached;
    for (int i = 0; i <= n; ++i) reached.emplace_back(m, false);
    finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&, i] {
          watched<bool>& mine = reached[static_cast<std::size_t>(i)];
          m.when(
              watching(mine), [&] { return mine.get(); },
              [&, i] { reached[static_cast<std::size_t>(i) + 1].set(true); });
        });
      }
      m.atomic([&] { reached[0].set(true); });
    });
    EXPECT_TRUE(reached.back().get());
  });
}

// The cell may be destroyed as soon as its only task has been released, even if the section that
// wrote it has not ended.
TEST(Watched, MayBeDestroyedByTheTaskThatWaited) {
  run_tasks(2, [] {
    monitor m;
    for (int i = 0; i < scaled(300, 30); ++i) {
      auto cell = std::make_unique<watched<int>>(m, 0);
      watched<int>& c = *cell;
      finish([&] {
        async([&m, cell = std::move(cell)]() mutable {
          m.when(watching(*cell), [&] { return cell->get() == 1; }, [] {});
          cell.reset();
        });
        m.atomic([&] { c.set(1); });
      });
    }
  });
}

TEST(Watched, ManyTasksWaitForManyCells) {
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [] {
      monitor m;
      constexpr std::size_t cells = 8;
      std::deque<watched<int>> tokens;
      for (std::size_t i = 0; i < cells; ++i) tokens.emplace_back(m, i == 0 ? 3 : 0);
      const int rounds = scaled(200, 20);
      finish([&] {
        for (std::size_t i = 0; i < cells; ++i) {
          async([&, i] {
            watched<int>& from = tokens[i];
            watched<int>& to = tokens[(i + 1) % cells];
            for (int k = 0; k < rounds; ++k) {
              m.when(
                  watching(from), [&] { return from.get() > 0; },
                  [&] {
                    from.change([](int& n) { --n; });
                    to.change([](int& n) { ++n; });
                  });
            }
          });
        }
      });
      EXPECT_EQ(tokens[0].get(), 3);
    });
  }
}

TEST(Watched, ExceptionsOfConditionAndBodyReachTheirTask) {
  run_tasks(1, [] {
    monitor m;
    watched<int> n(m, 0);
    finish([&] {
      async([&] {
        const auto condition = [&] { return n.get() == 1 ? throw std::domain_error("c") : false; };
        EXPECT_THROW(m.when(watching(n), condition, [] {}), std::domain_error);
      });
      async([&] {
        EXPECT_THROW(
            m.when(
                watching(n), [&] { return n.get() == 1; }, [] { throw std::range_error("b"); }),
            std::range_error);
      });
      apgas::yield();
      m.atomic([&] { n.set(1); });
    });
  });
}

// Expects that f throws illegal_operation with this text in its message.
template <class F>
void expect_refused(F f, const char* text) {
  EXPECT_NE(apgas::test::message_of<apgas::illegal_operation>(f).find(text), std::string::npos);
}

TEST(Watched, RefusesAWriteOutsideASectionOfItsMonitor) {
  run_tasks(1, [] {
    monitor m, other;
    watched<int> own(m, 1);
    watched<int> of_the_place(2);
    const char* const outside = "outside a critical section of the monitor that guards the cell";
    expect_refused([&] { own.set(3); }, outside);
    expect_refused([&] { other.atomic([&] { own.set(3); }); }, outside);
    expect_refused([&] { apgas::atomic([&] { own.change([](int& n) { n = 3; }); }); },
                   "call it inside monitor::atomic");
    expect_refused([&] { m.atomic([&] { of_the_place.set(3); }); }, "call it inside apgas::atomic");
    EXPECT_EQ(own.get(), 1);
    EXPECT_EQ(of_the_place.get(), 2);
  });
  watched<int> n(0);
  EXPECT_THROW(n.set(1), apgas::illegal_operation);
}

TEST(Watched, RefusesACellOfAnotherMonitor) {
  run_tasks(1, [] {
    monitor m, other;
    watched<int> own(m, 0);
    watched<int> of_the_place(0);
    const auto yes = [] { return true; };
    expect_refused([&] { other.when(watching(own), yes, [] {}); },
                   "make the cell with this monitor");
    expect_refused([&] { m.when(watching(own, of_the_place), yes, [] {}); },
                   "make the cell with this monitor");
    expect_refused([&] { when(watching(own), yes, [] {}); }, "make the cell with no monitor");
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0

// The first property that the uClocks paper asks for (DP1): unrelated constructs share no lock, and
// no queue either. Here these are clocks, phasers, the critical sections of a place, and monitors.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/accumulator.hpp>
#include <apgas/atomic.hpp>
#include <apgas/clock.hpp>
#include <apgas/monitor.hpp>
#include <apgas/phaser.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

namespace apgas::inline v0::sync {

struct lock_test_access {
  static base::spin_lock& of(phaser_tree_node& n) { return n.lock_; }
};

}  // namespace apgas::inline v0::sync

namespace {

using apgas::async;
using apgas::clock;
using apgas::clocked;
using apgas::finish;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::base::spin_lock;
using apgas::sync::lock_test_access;
using apgas::sync::phase_kind;
using apgas::sync::phaser_tree_node;
using apgas::test::spins_until;
using apgas::test::task_place;
using apgas::test::yields_until;
using std::chrono::milliseconds;

constexpr int tasks = 50;
constexpr int phases = 20;

phaser_tree_node& node_of(const apgas::sync::phase_id& id, phase_kind kind) {
  return *apgas::sync::registration_of(*apgas::scheduler::current_fiber(), id, kind, "test").node;
}
phaser_tree_node& node_of(const clock& c) {
  return node_of(apgas::clock_access::id(c), phase_kind::clock);
}
phaser_tree_node& node_of(const phaser& ph) {
  return node_of(apgas::phaser_access::id(ph), phase_kind::phaser);
}

// Runs f(i) in `tasks` tasks.
template <class F>
void in_tasks(F f) {
  finish([&] {
    for (int i = 0; i < tasks; ++i) async([&f, i] { f(i); });
  });
}

void use_clocks() {
  finish([] {
    const auto c = clock::make();
    for (int i = 0; i < tasks; ++i) {
      async(clocked(c), [c, i] {
        for (int k = 0; k < phases; ++k) i % 2 == 0 ? c.advance() : c.advance_eager();
      });
    }
  });
}

void use_phasers(int tiers) {
  finish([tiers] {
    const phaser ph(phaser_mode::signal_wait_next, tiers);
    const apgas::accumulator<int> sum(ph);
    for (int i = 0; i < tasks; ++i) {
      async(phased(ph, phaser_mode::signal_wait_next), [ph, sum] {
        for (int k = 0; k < phases; ++k) {
          sum.send(1);
          k % 2 == 0 ? ph.next() : ph.next_single([] {});
        }
      });
    }
    async(phased(ph, phaser_mode::wait), [ph] { ph.wait(); });
  });
}

void use_clocks_and_phasers() {
  use_clocks();
  use_phasers(1);
  use_phasers(2);
}

// Half of the tasks wait for a condition.
template <class Atomic, class When>
void use_sections(Atomic atomic, When when) {
  int n = 0;
  in_tasks([&](int i) {
    if (i % 2 == 0) {
      atomic([&] { ++n; });
    } else {
      when([&] { return n >= i / 2; }, [&] { ++n; });
    }
  });
  EXPECT_EQ(n, tasks);
}
void use_sections_of_the_place() {
  use_sections([](auto f) { apgas::atomic(f); }, [](auto c, auto f) { apgas::when(c, f); });
}
void use_a_monitor() {
  apgas::monitor m;
  use_sections([&](auto f) { m.atomic(f); }, [&](auto c, auto f) { m.when(c, f); });
}

// Whether f() finishes while another thread holds the lock, for at most `patience`.
template <class F>
bool goes_on_beside(spin_lock& lock, F f, milliseconds patience = apgas::test::patience) {
  std::atomic<bool> over{false};
  bool in_time = false;
  lock.lock();
  std::thread holder([&] {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!over && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    in_time = over;
    lock.unlock();
  });
  f();
  over = true;
  holder.join();
  return in_time;
}

// For a clock or phaser on which only the calling task is registered and which only own() uses.
template <class F>
void expect_only_its_own(phaser_tree_node& node, F own) {
  spin_lock& lock = lock_test_access::of(node);
  EXPECT_TRUE(goes_on_beside(lock, use_clocks_and_phasers));
  EXPECT_TRUE(goes_on_beside(lock, use_sections_of_the_place));
  EXPECT_TRUE(goes_on_beside(lock, use_a_monitor));
  EXPECT_FALSE(goes_on_beside(lock, own, milliseconds(20)));
}

TEST(Unrelated, UseNoLockOfAClock) {
  task_place place(2);
  place.run([] {
    const auto idle = clock::make();
    expect_only_its_own(node_of(idle), [&] { idle.advance(); });
  });
}

TEST(Unrelated, UseNoLockOfAPhaser) {
  task_place place(2);
  place.run([] {
    const phaser idle;
    expect_only_its_own(node_of(idle), [&] { idle.next(); });
  });
}

// Clocks do not even take the lock for a moment: each time the lock is taken, the entry is counted.
TEST(Unrelated, ClocksEnterNoCriticalSection) {
  task_place place(2);
  place.run([&] {
    const auto& sections = place.state().atomic_sections;
    const auto before = sections.count().entered;
    use_clocks_and_phasers();
    use_a_monitor();
    EXPECT_EQ(sections.count().entered, before);
    apgas::atomic([] {});
    EXPECT_EQ(sections.count().entered, before + 1) << "entries are counted";
  });
}

TEST(Unrelated, AnEndlessCriticalSectionDelaysNoClock) {
  task_place place(2);
  place.run([&] {
    std::atomic<bool> inside{false};
    std::atomic<bool> over{false};
    bool in_time = false;
    std::atomic<bool> entered{false};  // by another section of the place
    finish([&] {
      async([&] {
        apgas::atomic([&] {
          inside = true;
          in_time = spins_until([&] { return over.load(); });
        });
      });
      EXPECT_TRUE(spins_until([&] { return inside.load(); }));
      async([&] { apgas::atomic([&] { entered = true; }); });
      use_clocks_and_phasers();
      use_a_monitor();
      EXPECT_FALSE(entered);
      over = true;
    });
    EXPECT_TRUE(in_time);
    EXPECT_TRUE(entered);
  });
}

// Meanwhile, the task that waits for a phase and the task that waits for a condition are not
// touched.
TEST(Unrelated, UseNoSharedQueue) {
  task_place place(2);
  place.run([] {
    bool open = false;
    std::atomic<int> looked{0};
    std::atomic<bool> passed{false};
    finish([&] {
      const auto idle = clock::make();
      async(clocked(idle), [&, idle] {
        idle.advance();
        passed = true;
      });
      async([&] { apgas::when([&] { return ++looked, open; }, [] {}); });
      auto& core = node_of(idle).core();
      EXPECT_TRUE(yields_until([&] { return core.count().parked == 1 && looked == 2; }));
      const auto updates = core.count().updates;
      use_clocks_and_phasers();
      use_a_monitor();
      EXPECT_EQ(core.count().updates, updates);
      EXPECT_EQ(core.count().phases, 0U);
      EXPECT_EQ(looked, 2) << "when it arrived, and when it left the critical section";
      EXPECT_FALSE(passed);
      apgas::atomic([&] { open = true; });
    });
    EXPECT_TRUE(passed);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Random tasks on one phaser at all places: they signal, wait, spawn, travel, drop and end. Where
// the places share memory (transport local), every wait is checked against what all tasks have
// signalled.
//   APGAS_TEST_SEED=n, APGAS_TEST_SEEDS=n
#include <array>
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::async_at;
using apgas::at;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::place;
using test::check;

constexpr std::size_t most_phases = 4000;

// Signallers by the first phase that they have not signalled; tasks so far.
std::array<std::atomic<int>, most_phases> due;
std::atomic<int> tasks{0};
bool shared = false;  // by all places

struct walker {
  phaser ph;
  phaser_mode mode;
  std::uint64_t seed;
  std::int64_t signalled;
  std::int64_t waited;
  int budget;

  bool signals() const { return mode != phaser_mode::wait; }
  bool waits() const { return mode != phaser_mode::signal; }

  void signal() {
    if (!signals() || (waits() && signalled > waited)) return;
    if (static_cast<std::size_t>(signalled) + 2 >= most_phases) return;
    ++due[static_cast<std::size_t>(signalled) + 1];
    --due[static_cast<std::size_t>(signalled)];
    ++signalled;
    ph.signal();
  }
  void wait() {
    if (!waits()) return;
    if (signals() && signalled == waited) {
      ++due[static_cast<std::size_t>(signalled) + 1];
      --due[static_cast<std::size_t>(signalled)];
      ++signalled;
    }
    ph.wait();
    check(!shared || due[static_cast<std::size_t>(waited)] == 0);
    ++waited;
    check(ph.phase() == waited);
  }
  phaser_mode child_mode(std::uint64_t random) const {
    if (mode == phaser_mode::signal || mode == phaser_mode::wait) return mode;
    return random % 4 == 0   ? phaser_mode::signal
           : random % 4 == 1 ? phaser_mode::wait
                             : phaser_mode::signal_wait;
  }
  void spawn(apgas::base::random_engine& pick, bool far) {
    walker child{ph,     child_mode(pick()), pick(), signals() ? signalled : waited,
                 waited, budget / 2};
    if (child.mode == phaser_mode::signal) child.waited = child.signalled;
    if (child.mode == phaser_mode::wait) child.signalled = child.waited = waited;
    if (child.signals()) ++due[static_cast<std::size_t>(child.signalled)];
    ++tasks;
    budget -= budget / 2;
    if (far) {
      const place p(static_cast<int>(pick.below(static_cast<std::uint32_t>(apgas::num_places()))));
      async_at(p, phased(ph, child.mode), child);
    } else {
      apgas::async(phased(ph, child.mode), child);
    }
  }

  void operator()() {
    apgas::base::random_engine pick(seed);
    if (mode != phaser_mode::wait) check(ph.phase() == (waits() ? waited : signalled));
    while (budget > 0) {
      --budget;
      const std::uint32_t what = pick.below(20);
      if (what < 8) {
        waits() ? wait() : signal();
      } else if (what < 11) {
        signal();
      } else if (what < 13) {
        apgas::yield();
      } else if (what < 16) {
        spawn(pick, false);
      } else if (what < 18) {
        spawn(pick, true);
      } else if (what < 19) {
        const place p(
            static_cast<int>(pick.below(static_cast<std::uint32_t>(apgas::num_places()))));
        const auto now = at(
            p,
            [](walker w) {
              w.waits() ? w.wait() : w.signal();
              w.signal();
              return w;
            },
            *this);
        signalled = now.signalled;
        waited = now.waited;
      } else if (pick.below(3) == 0) {
        break;
      }
    }
    if (signals()) --due[static_cast<std::size_t>(signalled)];
  }
};

TEST(random_phases, all_places) {
  tasks = 7;
  shared = at(test::last(), [] { return tasks.load(); }) == 7;
  if (!shared) at(test::last(), [] { shared = false; });
  const auto only = test::number_from_environment("APGAS_TEST_SEED", 0);
  const auto first = only != 0 ? only : 1;
  const auto last =
      only != 0 ? only : test::number_from_environment("APGAS_TEST_SEEDS", 100 / test::slower);
  for (auto seed = first; seed <= last; ++seed) {
    for (auto& d : due) d = 0;
    try {
      apgas::finish([seed] {
        const phaser ph(phaser_mode::signal_wait, seed % 3 == 0 ? 2 : 1, 2);
        walker main{ph, phaser_mode::signal_wait, seed, 0, 0, 400};
        ++due[0];
        main();
      });
    } catch (const apgas::multiple_exceptions& several) {
      FAIL() << "replay with APGAS_TEST_SEED=" << seed << ": " << several.what();
    }
  }
  test::expect_no_clocks_left();
}

}  // namespace

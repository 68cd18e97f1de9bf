// SPDX-License-Identifier: Apache-2.0
// Random tasks on three phasers at all places: they signal, wait, send to accumulators, call
// next_single, spawn, move, drop and end. If all places share memory (transport local), each wait
// is compared with a model of what all tasks have done. APGAS_TEST_SEED=n runs one seed,
// APGAS_TEST_SEEDS=n that many.
#include <algorithm>
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

// What all tasks have done in a phase.
struct phase_history {
  std::atomic<int> unarrived;      // signallers whose next signal is for this phase
  std::atomic<std::int64_t> sent;  // sum sent to the accumulator
  std::atomic<int> asked;          // how many tasks called next_single
  std::atomic<int> singles;        // how many closures ran
};
constexpr std::size_t phasers = 3;
constexpr std::size_t most_phases = 2000;
std::array<std::array<phase_history, most_phases>, phasers> history;
bool shared = false;  // whether all places share the history

// The registration of a task on one phaser.
struct membership {
  phaser ph;
  apgas::accumulator<std::int64_t> sum;
  std::size_t number;
  phaser_mode mode;
  bool in = true;
  bool moved = false;          // a waiter that moved may read a result too late
  std::int64_t signalled = 0;  // its next signal is for this phase
  std::int64_t waited = 0;

  bool signals() const { return mode != phaser_mode::wait; }
  bool waits() const { return mode != phaser_mode::signal; }
  bool may_signal() const { return in && signals() && (!waits() || signalled == waited); }
  phase_history& in_phase(std::int64_t p) const {
    return history[number].at(static_cast<std::size_t>(p));
  }

  void note_signal() {
    if (!may_signal()) return;
    ++in_phase(signalled + 1).unarrived;
    --in_phase(signalled).unarrived;
    ++signalled;
  }
  void signal() {
    if (!may_signal()) return;
    note_signal();
    ph.signal();
  }
  void send(std::int64_t x) const {
    if (!may_signal()) return;
    in_phase(signalled).sent += x;
    sum.send(x);
  }

  // A task that only waits and lags behind may read a result too late if it has moved, or if its
  // spawner moved after it had signalled.
  void check_result(std::int64_t sent) const {
    try {
      const std::int64_t result = sum.result();
      check(!shared || result == sent);
    } catch (const apgas::phaser_use_error&) {
      check(mode == phaser_mode::wait && moved);
    }
  }
  // Called when a wait has returned.
  void passed() {
    const phase_history& h = in_phase(waited);
    check(!shared || (h.unarrived == 0 && h.singles == (h.asked != 0 ? 1 : 0)));
    ++waited;
    check(ph.phase() == waited);
    check_result(h.sent);
  }
  void wait() {
    if (!in || !waits()) return;
    note_signal();
    ph.wait();
    passed();
  }
  void next_single() {
    ++in_phase(waited).asked;
    note_signal();
    ph.next_single([this] {
      phase_history& h = in_phase(waited);
      check(!shared || (h.unarrived == 0 && h.singles == 0));
      ++h.singles;
      check(ph.phase() == waited);
    });
    passed();
  }
  void forget() {
    if (in && signals()) --in_phase(signalled).unarrived;
    in = false;
  }
  void drop() {
    if (!in) return;
    forget();
    ph.drop();
    check(!ph.registered());
  }

  // The registration of a child in this mode.
  membership child(phaser_mode m) const {
    membership c = *this;
    c.mode = m;
    if (m == phaser_mode::wait) c.signalled = waited;
    if (signals() && m == phaser_mode::signal) c.waited = signalled;
    if (m != phaser_mode::wait) ++c.in_phase(c.signalled).unarrived;
    return c;
  }
};

// There is no deadlock: a task that waits has signalled everything in its round, and when the round
// begins, all phasers that a task both signals and waits for are in the phase of that round.
struct walker {
  std::array<membership, phasers> all;
  std::uint64_t seed;
  int budget;

  using random = apgas::base::random_engine;

  static phaser_mode child_mode(phaser_mode mine, random& pick) {
    if (mine == phaser_mode::signal || mine == phaser_mode::wait) return mine;
    const std::uint32_t n = pick.below(6);
    if (n == 0) return phaser_mode::signal;
    if (n == 1) return phaser_mode::wait;
    return n < 4 ? mine : phaser_mode::signal_wait;
  }
  static place somewhere(random& pick) {
    return place(static_cast<int>(pick.below(static_cast<std::uint32_t>(apgas::num_places()))));
  }
  membership& any(random& pick) { return all[pick.below(phasers)]; }

  // One phase of all phasers.
  void round(random& pick) {
    if (pick.below(3) == 0) {
      for (membership& m : all) m.note_signal();
      apgas::next();
      for (membership& m : all) {
        if (m.in && m.waits()) m.passed();
      }
      return;
    }
    membership& single = any(pick);
    const bool asks = single.in && single.mode == phaser_mode::signal_wait_next &&
                      single.may_signal() && pick.below(2) == 0;
    for (membership& m : all) {
      if (!asks || &m != &single) m.signal();
    }
    if (asks) single.next_single();
    const auto first = pick.below(phasers);
    for (std::size_t i = 0; i < phasers; ++i) {
      membership& m = all[(first + i) % phasers];
      if (asks && &m == &single) continue;
      if (m.signals() || pick.below(3) != 0) m.wait();  // a task that only waits may lag behind
    }
  }

  void move() {
    for (membership& m : all) m.moved |= m.mode == phaser_mode::wait || m.signalled > m.waited;
  }
  void spawn(random& pick) {
    walker child{.all = all, .seed = pick(), .budget = budget / 2};
    budget -= budget / 2;
    std::size_t n = 0;
    std::array<membership*, phasers> of{};
    for (std::size_t i = 0; i < phasers; ++i) {
      child.all[i].in = all[i].in && pick.below(4) != 0;
      if (!child.all[i].in) continue;
      child.all[i] = all[i].child(child_mode(all[i].mode, pick));
      of[n++] = &child.all[i];
    }
    const place p = pick.below(3) == 0 ? somewhere(pick) : apgas::here();
    if (p != apgas::here()) child.move();
    if (n == 0) return async_at(p, child);
    if (n == 1) return async_at(p, phased(of[0]->ph, of[0]->mode), child);
    if (n == 2) return async_at(p, phased(of[0]->ph, of[0]->mode, of[1]->ph, of[1]->mode), child);
    async_at(p, phased(of[0]->ph, of[0]->mode, of[1]->ph, of[1]->mode, of[2]->ph, of[2]->mode),
             child);
  }

  void step(random& pick) {
    const std::uint32_t what = pick.below(32);
    if (what < 8) {
      any(pick).send(pick.below(1000));
    } else if (what < 12) {
      any(pick).signal();
    } else if (what < 23) {
      round(pick);
    } else if (what < 25) {
      apgas::yield();
    } else if (what < 30) {
      spawn(pick);
    } else if (pick.below(3) == 0) {
      any(pick).drop();
    }
  }

  void operator()() {
    random pick(seed);
    for (const membership& m : all) {
      if (m.in) check(m.ph.phase() == (m.waits() ? m.waited : m.signalled));
    }
    while (budget-- > 0) {
      if (pick.below(16) != 0) {
        step(pick);
      } else if (pick.below(8) != 0) {
        seed = pick();
        move();
        *this = at(
            somewhere(pick),
            [](walker w) {
              random there(w.seed);
              for (auto n = there.below(4); n-- > 0;) w.step(there);
              return w;
            },
            *this);
      } else {
        break;
      }
    }
    for (membership& m : all) m.forget();
  }
};

membership made(const phaser& ph, std::size_t number) {
  ++history[number][0].unarrived;
  return {.ph = ph,
          .sum = apgas::accumulator<std::int64_t>(ph),
          .number = number,
          .mode = phaser_mode::signal_wait_next};
}

void clear_history() {
  for (auto& of_phaser : history) {
    for (phase_history& h : of_phaser) {
      h.unarrived = 0;
      h.sent = 0;
      h.asked = 0;
      h.singles = 0;
    }
  }
}

TEST(random_phases, all_places) {
  history[0][0].unarrived = 7;
  shared = at(test::last(), [] { return history[0][0].unarrived.load(); }) == 7;
  if (!shared) at(test::last(), [] { shared = false; });
  const auto only = test::number_from_environment("APGAS_TEST_SEED", 0);
  const auto first = only != 0 ? only : 1;
  const auto last =
      only != 0 ? only : test::number_from_environment("APGAS_TEST_SEEDS", 100 / test::slower);
  std::int64_t singles = 0;
  std::int64_t sent = 0;
  for (auto seed = first; seed <= last; ++seed) {
    clear_history();
    try {
      apgas::finish([seed] {
        constexpr auto mode = phaser_mode::signal_wait_next;
        const std::array phs{phaser(mode, 1), phaser(mode, 2, 2), phaser(mode)};
        walker main{.all = {made(phs[0], 0), made(phs[1], 1), made(phs[2], 2)},
                    .seed = seed,
                    .budget = 400};
        main();
      });
    } catch (const apgas::multiple_exceptions& several) {
      FAIL() << "repeat with APGAS_TEST_SEED=" << seed << ": " << several.what();
    }
    for (const auto& of_phaser : history) {
      for (const phase_history& h : of_phaser) {
        singles += h.singles;
        sent += h.sent;
      }
    }
  }
  if (shared && only == 0) {
    EXPECT_GT(singles, 0);
    EXPECT_GT(sent, 0);
  }
  test::expect_no_clocks_left();
}

}  // namespace

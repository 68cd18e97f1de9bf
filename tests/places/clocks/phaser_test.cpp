// SPDX-License-Identifier: Apache-2.0
// Phasers with tasks at several places: modes, signallers that run ahead, waiters that lag behind,
// errors.
#include <atomic>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::async_at;
using apgas::at;
using apgas::clock;
using apgas::clocked;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::place;
using test::check;

TEST(phaser, lets_producers_run_ahead_of_consumers) {
  const int rounds = 100;
  const auto produced = apgas::make_global<std::atomic<int>>(0);
  apgas::finish([&] {
    const phaser ph(phaser_mode::signal_wait);
    for (place p : apgas::places()) {
      async_at(
          p, phased(ph, phaser_mode::signal),
          [](phaser own, auto n, int rounds_) {
            for (int k = 0; k < rounds_; ++k) {
              apgas::finish([&] { async_at(n.home(), [](auto m) { ++*m; }, n); });
              check(own.phase() == k);
              own.signal();
            }
          },
          ph, produced, rounds);
      async_at(
          p, phased(ph, phaser_mode::wait),
          [](phaser own, auto n, int rounds_) {
            for (int k = 0; k < rounds_; ++k) {
              own.wait();
              if (k % 10 != 0) continue;
              const int least = (k + 1) * apgas::num_places();
              apgas::finish(
                  [&] { async_at(n.home(), [](auto m, int l) { check(*m >= l); }, n, least); });
            }
            check(own.phase() == rounds_);
          },
          ph, produced, rounds);
    }
  });
  EXPECT_EQ(*produced, rounds * apgas::num_places());
  produced.forget();
  test::expect_no_clocks_left();
}

TEST(phaser, never_blocks_waiters_without_signallers) {
  apgas::finish([] {
    const phaser ph(phaser_mode::wait);
    for (place p : apgas::places()) {
      async_at(
          p, phased(ph, phaser_mode::wait),
          [](phaser own) {
            for (int k = 0; k < 10; ++k) own.wait();
          },
          ph);
    }
  });
  test::expect_no_clocks_left();
}

TEST(phaser, releases_all_waiters_when_the_last_signaller_leaves) {
  apgas::finish([] {
    const phaser ph(phaser_mode::signal_wait);
    for (place p : apgas::places()) {
      async_at(
          p, phased(ph, phaser_mode::wait),
          [](phaser own) {
            for (int k = 0; k < 100; ++k) own.wait();
          },
          ph);
    }
    ph.next();
    ph.drop();
  });
  test::expect_no_clocks_left();
}

// Some tasks call next_single and some next, at places that differ from phase to phase.
TEST(phaser, runs_the_closure_of_next_single_once) {
  for (place owner : test::some_places()) {
    const auto runs = apgas::make_global<std::atomic<int>>(0);
    apgas::finish([&] {
      at(
          owner,
          [](auto n) {
            const phaser ph(phaser_mode::signal_wait_next);
            for (place p : apgas::places()) {
              for (int i = 0; i < 3; ++i) {
                async_at(
                    p, phased(ph, phaser_mode::signal_wait_next),
                    [](phaser own, int i_, auto m) {
                      for (int k = 0; k < 30; ++k) {
                        if ((i_ + k + apgas::here().id()) % 3 == 0) {
                          own.next();
                        } else {
                          own.next_single([&] {
                            check(own.phase() == 3 * k);
                            at(m.home(), [](auto l) { ++*l; }, m);
                          });
                        }
                        check(own.phase() == 3 * k + 1);
                        check(at(m.home(), [](auto l) { return l->load(); }, m) == k + 1);
                        own.next();
                        own.signal();
                        own.wait();
                      }
                    },
                    ph, i, n);
              }
            }
            ph.drop();
          },
          runs);
    });
    EXPECT_EQ(*runs, 30);
    runs.forget();
  }
  test::expect_no_clocks_left();
}

TEST(phaser, rethrows_an_exception_of_next_single_where_it_ran) {
  const auto thrown = apgas::make_global<std::atomic<int>>(0);
  apgas::finish([&] {
    const phaser ph(phaser_mode::signal_wait_next);
    for (place p : apgas::places()) {
      async_at(
          p, phased(ph, phaser_mode::signal_wait_next),
          [](phaser own, auto n) {
            for (int k = 0; k < 10; ++k) {
              try {
                own.next_single([] { throw std::out_of_range("single"); });
              } catch (const std::out_of_range&) {
                at(n.home(), [](auto m) { ++*m; }, n);
              }
              check(own.phase() == k + 1);
            }
          },
          ph, thrown);
    }
    ph.drop();
  });
  EXPECT_EQ(*thrown, 10);
  thrown.forget();
  test::expect_no_clocks_left();
}

TEST(phaser, works_with_several_clauses) {
  for (place p : apgas::places()) {
    apgas::finish([p] {
      const auto c = clock::make();
      const phaser ph;
      const phaser tree(phaser_mode::signal_wait, 2, 2);
      const auto body = [](clock c1, phaser p1, phaser p2) {
        for (int k = 0; k < 20; ++k) {
          clock::advance_all();
          apgas::next();
          check(c1.phase() == k + 1 && p1.phase() == k + 1 && p2.phase() == k + 1);
        }
      };
      async_at(p, clocked(c), phased(ph, phaser_mode::signal_wait, tree, phaser_mode::signal_wait),
               body, c, ph, tree);
      async_at(p, phased(), body, c, ph, tree);
      async_at(test::next(p), phased(), body, c, ph, tree);
      body(c, ph, tree);
    });
  }
  test::expect_no_clocks_left();
}

TEST(phaser, keeps_modes_in_an_at) {
  for (place p : apgas::places()) {
    const phaser ph(phaser_mode::signal);
    for (int k = 0; k < 5; ++k) {
      at(
          p,
          [](phaser own) {
            own.signal();
            own.signal();
            bool thrown = false;
            try {
              own.wait();
            } catch (const apgas::phaser_use_error&) {
              thrown = true;
            }
            check(thrown);
          },
          ph);
      EXPECT_EQ(ph.phase(), 2 * k + 2);
    }
    ph.drop();
  }
  test::expect_no_clocks_left();
}

template <class Error, class F>
void expect_error(F f, const char* text) {
  try {
    f();
  } catch (const Error& e) {
    check(std::string(e.what()).find(text) != std::string::npos);
    return;
  }
  check(false);
}

TEST(phaser, reports_the_same_errors_as_at_one_place) {
  for (place p : apgas::places()) {
    const auto c = clock::make();
    const phaser ph(phaser_mode::signal);
    const clock gone = [] {
      const auto made = clock::make();
      made.drop();
      return made;
    }();
    expect_error<apgas::clock_use_error>([&] { async_at(p, clocked(gone), [] {}); },
                                         "not registered");
    expect_error<apgas::clock_use_error>([&] { async_at(p, clocked(c, c), [] {}); }, "twice");
    expect_error<apgas::clock_use_error>([&] { apgas::clocked_async_at(p, [] {}); },
                                         "clocked_finish");
    expect_error<apgas::phaser_use_error>(
        [&] { async_at(p, phased(ph, phaser_mode::signal_wait), [] {}); }, "has only signal");
    const phaser outer;
    apgas::finish([&] {
      expect_error<apgas::phaser_use_error>(
          [&] { async_at(p, phased(outer, phaser_mode::signal), [] {}); }, "innermost");
    });
    outer.drop();
    c.advance();
    c.drop();
    ph.drop();
  }
  test::expect_no_clocks_left();
}

}  // namespace

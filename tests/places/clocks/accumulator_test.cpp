// SPDX-License-Identifier: Apache-2.0
// Accumulators of phasers with tasks at several places.
#include <atomic>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>

#include <cereal/types/string.hpp>
#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::accumulator;
using apgas::async_at;
using apgas::at;
using apgas::phased;
using apgas::phaser;
using apgas::phaser_mode;
using apgas::place;
using test::check;

template <class F, class... Args>
void at_every_place(const phaser& ph, int tasks, phaser_mode mode, F f, Args... args) {
  for (place p : apgas::places()) {
    for (int i = 0; i < tasks; ++i) async_at(p, phased(ph, mode), f, ph, i, args...);
  }
}

TEST(accumulator, sums_and_extremes_of_every_phase) {
  const int phases = 50;
  const int tasks = 5;
  apgas::finish([&] {
    const phaser ph;
    const accumulator<std::int64_t> sum(ph);
    const accumulator<double, apgas::minimum> least(ph);
    at_every_place(
        ph, tasks, phaser_mode::signal_wait,
        [](phaser own, int i, auto s, auto l, int phases_, int tasks_) {
          const int me = apgas::here().id() * tasks_ + i;
          const std::int64_t n = apgas::num_places() * tasks_;
          for (int k = 0; k < phases_; ++k) {
            s.send(me + k);
            if (k % 3 == 0) l.send(me + 0.5);
            own.next();
            check(s.result() == n * (n - 1) / 2 + n * k);
            check(l.result() == (k % 3 == 0 ? 0.5 : std::numeric_limits<double>::infinity()));
          }
        },
        sum, least, phases, tasks);
    ph.drop();
  });
  test::expect_no_clocks_left();
}

TEST(accumulator, the_handle_carries_operation_and_identity) {
  apgas::finish([] {
    const phaser ph;
    int base = 1000;
    const accumulator most(ph, [base](int a, int b) { return a % base > b % base ? a : b; }, -1);
    at_every_place(
        ph, 1, phaser_mode::signal_wait,
        [](phaser own, int, auto m) {
          m.send(apgas::here().id() + 1000);
          own.next();
          check(m.result() == apgas::num_places() - 1 + 1000);
        },
        most);
    ph.drop();
  });
  test::expect_no_clocks_left();
}

// Too large for a handle; other places make it from its type alone.
struct longest {
  std::string operator()(const std::string& a, const std::string& b) const {
    return a.size() < b.size() ? b : a;
  }
  template <class T>
  static T identity() {
    return {};
  }
};

TEST(accumulator, reduces_serialised_values) {
  apgas::finish([] {
    const phaser ph;
    const accumulator<std::string, longest> words(ph);
    at_every_place(
        ph, 2, phaser_mode::signal_wait,
        [](phaser own, int i, accumulator<std::string, longest> w) {
          for (int k = 1; k < 10; ++k) {
            w.send(
                std::string(static_cast<std::size_t>(k * (apgas::here().id() + 1)), i ? 'x' : 'y'));
            own.next();
            check(w.result().size() == static_cast<std::size_t>(k * apgas::num_places()));
          }
        },
        words);
    ph.drop();
  });
  test::expect_no_clocks_left();
}

TEST(accumulator, a_task_reads_at_one_place_and_sends_at_another) {
  apgas::finish([] {
    const phaser ph;
    const accumulator<int> sum(ph);
    for (int k = 0; k < 20; ++k) {
      for (place p : apgas::places()) {
        at(p, [](accumulator<int> s, int x) { s.send(x); }, sum, k + 1);
      }
      const place reader(k % apgas::num_places());
      at(reader, [](phaser own) { own.next(); }, ph);
      const place other((k + 1) % apgas::num_places());
      EXPECT_EQ(at(
                    other, [](accumulator<int> s) { return s.result(); }, sum),
                (k + 1) * apgas::num_places());
    }
    ph.drop();
  });
  test::expect_no_clocks_left();
}

// Tasks that send, wait and read at random places. APGAS_TEST_SEED=n repeats a run.
TEST(accumulator, tasks_move_at_random) {
  const auto seed = test::number_from_environment("APGAS_TEST_SEED", 1);
  const int tasks = 6;
  const int phases = 40;
  apgas::finish([&] {
    const phaser ph;
    const accumulator<int> sum(ph);
    for (int i = 0; i < tasks; ++i) {
      async_at(
          place(i % apgas::num_places()), phased(ph, phaser_mode::signal_wait),
          [](phaser own, auto s, int i_, int phases_, int tasks_, auto seed_) {
            apgas::base::random_engine next(static_cast<std::uint64_t>(seed_ * 100 + i_));
            const auto somewhere = [&] {
              return place(
                  static_cast<int>(next.below(static_cast<std::uint32_t>(apgas::num_places()))));
            };
            for (int k = 0; k < phases_; ++k) {
              for (int n = 0; n < 3; ++n)
                at(somewhere(), [](auto s_, int x) { s_.send(x); }, s, n * k);
              at(somewhere(), [](phaser own_) { own_.next(); }, own);
              check(at(somewhere(), [](auto s_) { return s_.result(); }, s) == 3 * k * tasks_);
            }
          },
          ph, sum, i, phases, tasks, seed);
    }
    ph.drop();
  });
  test::expect_no_clocks_left();
}

// Checks the sums of two producers at each place, which send the number of the phase.
void check_sums(const phaser& own, const accumulator<int>& sum, int phases) {
  for (int k = 0; k < phases; ++k) {
    own.wait();
    check(sum.result() == 2 * k * apgas::num_places());
  }
}

// Also at a place that has not used the accumulator before. The task stays at its place meanwhile.
TEST(accumulator, a_waiter_that_lags_behind_gets_every_result) {
  static std::atomic<bool> there{false};  // at place 0
  static std::atomic<bool> over{false};   // at the last place
  const int phases = 20;
  there = false;
  at(test::last(), [] { over = false; });
  apgas::finish([&] {
    const phaser ph;
    const accumulator<int> sum(ph);
    async_at(
        test::last(), phased(ph, phaser_mode::wait),
        [](phaser own, auto s, int phases_) {
          apgas::finish([] { async_at(place(0), [] { there = true; }); });
          while (!over) apgas::yield();
          check_sums(own, s, phases_);
        },
        ph, sum, phases);
    while (!there) apgas::yield();
    for (int k = 0; k < phases; ++k) {
      sum.send(2 * k * apgas::num_places());
      ph.next();
      apgas::yield();
    }
    async_at(test::last(), [] { over = true; });
  });
  test::expect_no_clocks_left();
}

TEST(accumulator, producers_run_ahead) {
  const int phases = 40;
  apgas::finish([&] {
    const phaser ph;
    const accumulator<int> sum(ph);
    at_every_place(
        ph, 2, phaser_mode::signal,
        [](phaser own, int, auto s, int phases_) {
          for (int k = 0; k < phases_; ++k) {
            s.send(k);
            own.signal();
          }
        },
        sum, phases);
    at_every_place(
        ph, 1, phaser_mode::wait,
        [](phaser own, int, auto s, int phases_) { check_sums(own, s, phases_); }, sum, phases);
    for (int k = 0; k < phases; ++k) ph.next();
    ph.drop();
  });
  test::expect_no_clocks_left();
}

TEST(accumulator, producers_end_before_a_phase_is_complete) {
  const int phases = 40;
  apgas::finish([&] {
    const phaser ph;
    const accumulator<int> sum(ph);
    const auto ended = apgas::make_global<std::atomic<int>>(0);
    at_every_place(
        ph, 2, phaser_mode::signal,
        [](phaser own, int, auto s, int phases_, auto e) {
          for (int k = 0; k < phases_; ++k) {
            s.send(k);
            own.signal();
          }
          own.drop();
          at(e.home(), [](auto n) { ++*n; }, e);
        },
        sum, phases, ended);
    at_every_place(
        ph, 1, phaser_mode::wait,
        [](phaser own, int, auto s, int phases_) {
          check_sums(own, s, phases_);
          own.wait();
          check(s.result() == 0);
        },
        sum, phases);
    while (*ended != 2 * apgas::num_places()) apgas::yield();
    ended.forget();
    ph.drop();
  });
  test::expect_no_clocks_left();
}

TEST(accumulator, values_of_a_task_that_ends_count) {
  apgas::finish([] {
    const phaser ph;
    const accumulator<int> sum(ph);
    at_every_place(ph, 3, phaser_mode::signal_wait, [](phaser, int i, auto s) { s.send(i); }, sum);
    ph.next();
    EXPECT_EQ(sum.result(), 3 * apgas::num_places());
    ph.next();
    EXPECT_EQ(sum.result(), 0);
    ph.drop();
  });
  test::expect_no_clocks_left();
}

struct refuses {
  int operator()(int a, int b) const {
    if (b == 13 || a == 13) throw std::out_of_range("thirteen");
    return a + b;
  }
  template <class T>
  static T identity() {
    return {};
  }
};

TEST(accumulator, an_exception_of_the_operation_reaches_every_reader) {
  apgas::finish([] {
    const phaser ph;
    const accumulator<int, refuses> sum(ph);
    for (place p : apgas::places()) {
      async_at(
          p, phased(ph, phaser_mode::signal_wait),
          [](phaser own, auto s) {
            if (apgas::here().id() + 1 == apgas::num_places()) s.send(12);
            if (apgas::here().id() + 1 == apgas::num_places()) {
              bool refused = false;
              try {
                s.send(1);
                s.send(0);
              } catch (const std::out_of_range&) {
                refused = true;
              }
              check(refused);
            }
            own.next();
            bool thrown = false;
            try {
              static_cast<void>(s.result());
            } catch (const std::out_of_range& e) {
              thrown = std::string(e.what()) == "thirteen";
            }
            check(thrown);
            own.next();
            check(s.result() == 0);
          },
          ph, sum);
    }
    ph.drop();
  });
  test::expect_no_clocks_left();
}

TEST(accumulator, reports_misuse_at_other_places) {
  const place p(apgas::num_places() - 1);
  const phaser ph;
  const accumulator<int> sum(ph);
  const auto wrong = [](auto f) {
    try {
      f();
    } catch (const apgas::phaser_use_error&) {
      return true;
    }
    return false;
  };
  at(
      p,
      [](phaser own, auto s, auto wrong_) {
        check(wrong_([&] { s.result(); }));  // the first phase
        own.signal();
        check(wrong_([&] { s.send(1); }));
        own.wait();
        check(s.result() == 0);
        apgas::finish([&] { apgas::async([&] { check(wrong_([&] { s.send(1); })); }); });
      },
      ph, sum, wrong);
  ph.drop();
  test::expect_no_clocks_left();
}

// Each place sends a partial result with its arrival in each phase, and receives the result with
// the release.
TEST(accumulator, needs_no_extra_message) {
  if (apgas::num_places() == 1) return;
  const auto before = test::all_phase_counts();
  const int phases = 100;
  apgas::finish([&] {
    const phaser ph;
    const accumulator<int> sum(ph);
    at_every_place(
        ph, 10, phaser_mode::signal_wait,
        [](phaser own, int, auto s, int phases_) {
          for (int k = 0; k < phases_; ++k) {
            s.send(1);
            own.next();
            check(s.result() == 10 * apgas::num_places());
          }
        },
        sum, phases);
    ph.drop();
  });
  const auto after = test::all_phase_counts();
  for (std::size_t i = 1; i < after.size(); ++i) {
    EXPECT_LE(after[i].parts - before[i].parts, phases + 20U);
    EXPECT_GE(after[i].parts - before[i].parts, phases + 0U);
    EXPECT_LE(after[i].asked - before[i].asked, 2U);
  }
  EXPECT_LE(after[0].results - before[0].results, (phases + 20U) * (after.size() - 1));
  test::expect_no_clocks_left();
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Clocks that are passed on to tasks at other places inside a finish that began after the clock.
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::async_at;
using apgas::at;
using apgas::clock;
using apgas::clocked;
using apgas::place;
using test::check;

// The program of X10's tests, with the child at each place, and the clock at each place.
TEST(clock_in_finish, the_spawner_drops_the_clock_before_it_waits) {
  for (place home : test::some_places()) {
    at(home, [] {
      for (place p : apgas::places()) {
        for (int i = 0; i < 20; ++i) {
          const auto c = clock::make();
          apgas::finish([&] {
            async_at(
                p, clocked(c),
                [](clock own) {
                  own.advance();
                  own.advance();
                  check(own.phase() == 2);
                },
                c);
            c.drop();
          });
        }
      }
    });
  }
  test::expect_no_clocks_left();
}

TEST(clock_in_finish, all_places_stay_in_lock_step) {
  const auto shared = apgas::make_global<std::atomic<int>>(0);
  const int n = 3 * apgas::num_places();
  const auto c = clock::make();
  apgas::finish([&] {
    for (int i = 0; i < n; ++i) {
      async_at(
          place(i % apgas::num_places()), clocked(c),
          [](clock own, auto sum, int tasks) {
            for (int k = 1; k <= 20; ++k) {
              at(place(0), [](auto s) { ++*s; }, sum);
              own.advance();
              check(at(place(0), [](auto s) { return s->load(); }, sum) >= tasks * k);
              own.advance();
            }
          },
          c, shared, n);
    }
    c.drop();
  });
  check(*shared == 20 * n);
  shared.forget();
  test::expect_no_clocks_left();
}

// The spawner stays registered, and several finishes follow each other.
TEST(clock_in_finish, the_spawner_advances_in_step) {
  const auto c = clock::make();
  for (int round = 0; round < 10; ++round) {
    apgas::finish([&] {
      for (place p : apgas::places()) {
        async_at(
            p, clocked(c),
            [](clock own, int n) {
              check(own.phase() == 2 * n);
              own.advance();
              own.advance();
            },
            c, round);
      }
      c.advance();
      c.advance();
    });
    check(c.phase() == 2 * round + 2);
  }
  c.drop();
  test::expect_no_clocks_left();
}

// A remote task begins a finish of its own, and passes the clock on, to a third place.
TEST(clock_in_finish, remote_tasks_pass_the_clock_on) {
  apgas::finish([] {
    const auto c = clock::make();
    for (place p : apgas::places()) {
      async_at(
          p, clocked(c),
          [](clock own) {
            apgas::finish([own] {
              const auto child = [](clock passed) {
                for (int k = 0; k < 5; ++k) passed.advance();
              };
              async_at(test::next(apgas::here()), clocked(own), child, own);
              apgas::async(clocked(own), [own, child] { child(own); });
              own.drop();
            });
            check(own.dropped());
          },
          c);
    }
    for (int k = 0; k < 5; ++k) c.advance();
    check(c.phase() == 5);
  });
  test::expect_no_clocks_left();
}

std::uint64_t innermost_clock() {
  return apgas::clock_access::implicit(*apgas::scheduler::current_fiber(), "a test").number;
}

TEST(clock_in_finish, phased_keeps_the_innermost_clocked_finish_at_another_place) {
  apgas::clocked_finish([] {
    apgas::clocked_finish([] {
      async_at(
          test::next(apgas::here()), apgas::phased(),
          [](std::uint64_t inner) {
            check(innermost_clock() == inner);
            apgas::clocked_async([inner] { check(innermost_clock() == inner); });
          },
          innermost_clock());
    });
  });
  test::expect_no_clocks_left();
}

TEST(clock_in_finish, clocked_async_at_uses_the_innermost_clocked_finish) {
  apgas::clocked_finish([] {
    apgas::finish([] {
      for (place p : apgas::places()) {
        apgas::clocked_async_at(p, [] {
          clock::advance_all();
          apgas::finish([] {
            apgas::clocked_async_at(test::next(apgas::here()), [] { clock::advance_all(); });
            clock::advance_all();
          });
        });
      }
      clock::advance_all();
      clock::advance_all();
    });
  });
  test::expect_no_clocks_left();
}

}  // namespace

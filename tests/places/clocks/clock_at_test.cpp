// SPDX-License-Identifier: Apache-2.0
// at() takes the registrations of its caller along, and brings them back as the body left them.
#include <stdexcept>

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

TEST(clock_at, the_body_advances) {
  for (place p : test::some_places()) {
    apgas::finish([p] {
      const auto c = clock::make();
      for (place q : apgas::places()) {
        async_at(
            q, clocked(c),
            [](clock own) {
              for (int k = 0; k < 40; ++k) own.advance();
            },
            c);
      }
      for (int k = 0; k < 10; ++k) {
        check(c.phase() == 4 * k);
        at(
            p,
            [](clock own, int n) {
              check(own.registered() && own.phase() == 4 * n);
              own.advance();
              own.advance();
              at(
                  test::next(apgas::here()),
                  [](clock again) {
                    again.advance();
                    again.resume();
                  },
                  own);
              check(own.phase() == 4 * n + 3);
            },
            c, k);
        check(c.phase() == 4 * k + 3);
        c.resume();  // already resumed; no effect
        c.advance();
      }
    });
  }
  test::expect_no_clocks_left();
}

TEST(clock_at, the_body_drops_and_makes) {
  for (place p : apgas::places()) {
    apgas::finish([p] {
      const auto a = clock::make();
      const auto b = clock::make();
      const auto made = at(
          p,
          [](clock x, clock y) {
            x.drop();
            y.advance();
            const auto z = clock::make();
            z.advance();
            const auto not_kept = clock::make();
            not_kept.drop();
            return z;
          },
          a, b);
      check(a.dropped() && b.phase() == 1 && made.phase() == 1);
      async_at(p, clocked(made), [](clock m) { m.advance(); }, made);
      made.advance();
      check(made.phase() == 2);
      made.drop();
    });
  }
  test::expect_no_clocks_left();
}

TEST(clock_at, the_body_throws) {
  for (place p : apgas::places()) {
    const auto c = clock::make();
    EXPECT_THROW(at(
                     p,
                     [](clock own) {
                       own.advance();
                       throw std::runtime_error("no");
                     },
                     c),
                 std::runtime_error);
    EXPECT_EQ(c.phase(), 1);
    c.advance();
    c.drop();
  }
  test::expect_no_clocks_left();
}

TEST(clock_at, the_body_spawns) {
  apgas::finish([] {
    const auto c = clock::make();
    at(
        test::last(),
        [](clock own) {
          for (int i = 0; i < 10; ++i) {
            apgas::async(clocked(own), [own] {
              for (int k = 0; k < 10; ++k) own.advance();
            });
          }
        },
        c);
    for (int k = 0; k < 10; ++k) c.advance();
  });
  test::expect_no_clocks_left();
}

// The body passes on a clock that was made outside the innermost finish, and drops it there.
TEST(clock_at, the_body_passes_on_a_clock_from_outside_the_finish) {
  for (place p : apgas::places()) {
    const auto c = clock::make();
    apgas::finish([&] {
      at(
          p,
          [](clock own) {
            async_at(
                test::next(apgas::here()), clocked(own),
                [](clock passed) {
                  passed.advance();
                  passed.advance();
                },
                own);
            own.advance();
            own.drop();
          },
          c);
      check(c.dropped());
    });
  }
  test::expect_no_clocks_left();
}

TEST(clock_at, the_remote_clock_of_a_place_ends_after_an_at) {
  const auto c = clock::make();
  for (int i = 0; i < 100; ++i) {
    at(test::last(), [](clock own) { own.advance(); }, c);
  }
  EXPECT_EQ(c.phase(), 100);
  c.drop();
  test::expect_no_clocks_left();
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Clocks with tasks at several places: phases in lock-step, tasks that come and go.
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

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

// The phase that each place is in; at place 0.
struct board {
  std::vector<std::atomic<int>> phase =
      std::vector<std::atomic<int>>(static_cast<std::size_t>(apgas::num_places()));
};

// Each task writes, waits, and sees that all others have written.
TEST(clock, keeps_all_places_in_lock_step) {
  const int rounds = 300 / test::slower;
  const auto shared = apgas::make_global<board>();
  apgas::finish([&] {
    const auto c = clock::make();
    for (place p : apgas::places()) {
      async_at(
          p, clocked(c),
          [](clock own, auto all, int n) {
            const auto me = static_cast<std::size_t>(apgas::here().id());
            for (int k = 1; k <= n; ++k) {
              apgas::finish([&] {  // not an at, which would take the registration along
                async_at(
                    place(0), [](auto b, std::size_t i, int v) { b->phase[i] = v; }, all, me, k);
              });
              own.advance();
              apgas::finish([&] {
                async_at(
                    place(0),
                    [](auto b, int v) {
                      for (const auto& each : b->phase) check(each == v);
                    },
                    all, k);
              });
              check(own.phase() == 2 * k - 1);
              own.advance();
            }
          },
          c, shared, rounds);
    }
  });
  shared.forget();
  test::expect_no_clocks_left();
}

TEST(clock, waits_for_the_spawner_too) {
  for (place home : test::some_places()) {
    at(home, [] {
      apgas::finish([] {
        const auto c = clock::make();
        for (place p : apgas::places()) {
          async_at(
              p, clocked(c),
              [](clock own) {
                for (int k = 0; k < 100; ++k) own.advance();
                check(own.phase() == 100);
              },
              c);
        }
        for (int k = 0; k < 100; ++k) c.advance();
        check(c.phase() == 100);
      });
    });
  }
  test::expect_no_clocks_left();
}

TEST(clock, registers_children_at_other_places) {
  apgas::finish([] {
    const auto c = clock::make();
    for (place p : apgas::places()) {
      async_at(
          p, clocked(c),
          [](clock own) {
            for (int i = 0; i < 50; ++i) {
              apgas::async(clocked(own), [own] {
                for (int k = 0; k < 20; ++k) own.advance();
              });
            }
            for (int k = 0; k < 20; ++k) own.advance();
          },
          c);
    }
    for (int k = 0; k < 20; ++k) c.advance();
  });
  test::expect_no_clocks_left();
}

// Tasks move from place to place during phases. The child of a task that has resumed counts as
// resumed.
struct wanderer {
  clock c;
  int hops;
  int phase;
  void operator()() const {
    check(c.phase() == phase);
    if (hops == 0) return;
    if (hops % 3 == 0) {
      c.advance();
      async_at(test::next(apgas::here()), clocked(c), wanderer{c, hops - 1, phase + 1});
    } else if (hops % 3 == 1) {
      c.resume();
      async_at(test::next(apgas::here()), clocked(c), wanderer{c, hops - 1, phase});
    } else {
      async_at(test::next(apgas::here()), clocked(c), wanderer{c, hops - 1, phase});
      c.drop();
    }
  }
};

TEST(clock, advances_while_tasks_move) {
  const int hops = 300 / test::slower;
  apgas::finish([hops] {
    const auto c = clock::make();
    for (int i = 0; i < 8; ++i)
      async_at(test::next(apgas::here()), clocked(c), wanderer{c, hops, 0});
    async_at(
        test::last(), clocked(c),
        [](clock own, int n) {
          for (int k = 0; k < n; ++k) own.advance();
        },
        c, hops);
    for (int k = 0; k < hops; ++k) c.advance();
  });
  test::expect_no_clocks_left();
}

// When a task leaves, in whatever way, the others continue.
TEST(clock, is_left_in_every_way) {
  try {
    apgas::finish([] {
      const auto c = clock::make();
      for (place p : apgas::places()) {
        async_at(p, clocked(c), [](clock own) { own.advance(); }, c);  // ends after a phase
        async_at(p, clocked(c), [](clock) {}, c);                      // ends at once
        async_at(
            p, clocked(c),
            [](clock own) {
              own.resume();
              own.drop();
              check(own.dropped());
            },
            c);
        async_at(
            p, clocked(c),
            [](clock own) {
              own.advance();
              throw std::runtime_error("left by exception");
            },
            c);
        async_at(
            p, clocked(c),
            [](clock own) {
              for (int k = 0; k < 10; ++k) own.advance();
            },
            c);
      }
      for (int k = 0; k < 5; ++k) c.advance();
      // The end of this body drops c.
    });
    FAIL();
  } catch (const apgas::multiple_exceptions& several) {
    EXPECT_EQ(several.size(), static_cast<std::size_t>(apgas::num_places()));
    EXPECT_NE(std::string(several.what()).find("left by exception"), std::string::npos);
  }
  test::expect_no_clocks_left();
}

// Reading the argument throws at the other place, before the body runs.
struct unreadable {
  template <class Archive>
  void save(Archive& to) const {
    to(1);
  }
  template <class Archive>
  void load(Archive& from) {
    int one = 0;
    from(one);
    throw std::runtime_error("cannot be read");
  }
};

TEST(clock, drops_a_task_whose_arguments_cannot_be_read) {
  for (place p : apgas::places()) {
    EXPECT_THROW(apgas::finish([p] {
                   const auto c = clock::make();
                   async_at(p, clocked(c), [](unreadable) {}, unreadable());
                   for (int k = 0; k < 3; ++k) c.advance();
                 }),
                 apgas::multiple_exceptions);
  }
  test::expect_no_clocks_left();
}

TEST(clock, works_with_clocks_of_two_homes) {
  apgas::finish([] {
    const auto a = clock::make();
    const auto b = at(test::last(), [] { return clock::make(); });
    check(a.registered() && b.registered());
    for (place p : apgas::places()) {
      for (int i = 0; i < 3; ++i) {
        async_at(
            p, clocked(a, b),
            [](clock x, clock y) {
              for (int k = 0; k < 50; ++k) {
                clock::advance_all();
                check(x.phase() == k + 1 && y.phase() == k + 1);
              }
            },
            a, b);
      }
    }
    for (int k = 0; k < 50; ++k) clock::advance_all();
  });
  test::expect_no_clocks_left();
}

TEST(clock, clocked_finish_over_all_places) {
  apgas::clocked_finish([] {
    for (place p : apgas::places()) {
      apgas::clocked_async_at(p, [] {
        clock::advance_all();
        apgas::clocked_async_at(test::next(apgas::here()), [] { clock::advance_all(); });
        apgas::clocked_async([] { clock::advance_all(); });
        clock::advance_all();
      });
    }
    clock::advance_all();
    clock::advance_all();
  });
  test::expect_no_clocks_left();
}

TEST(clock, many_are_made_and_dropped) {
  const int rounds = 200 / test::slower;
  for (int i = 0; i < rounds; ++i) {
    apgas::finish([] {
      const auto c = clock::make();
      for (place p : apgas::places()) async_at(p, clocked(c), [](clock own) { own.advance(); }, c);
    });
  }
  test::expect_no_clocks_left();
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Clocks whose tasks are at several places: lock-step, coming and going.
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

// The phases that the places are in, at place 0.
struct board {
  std::vector<std::atomic<int>> phase =
      std::vector<std::atomic<int>>(static_cast<std::size_t>(apgas::num_places()));
};

// Every task writes, waits, and finds that all others have written.
TEST(clock, lock_step_over_all_places) {
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
              apgas::finish([&] {  // not an at: it would take the registration along
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

TEST(clock, the_spawner_takes_part) {
  for (place home : apgas::places()) {
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

TEST(clock, tasks_spawn_more_at_their_places) {
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

// Tasks that go from place to place while the phases go on: the child of a task that has resumed
// has resumed.
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

TEST(clock, travelling_while_phases_go_on) {
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

// The others go on when a task leaves, however it does.
TEST(clock, every_way_to_leave) {
  try {
    apgas::finish([] {
      const auto c = clock::make();
      for (place p : apgas::places()) {
        async_at(p, clocked(c), [](clock own) { own.advance(); }, c);  // ends
        async_at(p, clocked(c), [](clock) {}, c);                      // at once
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

// What an argument is made from on the other side throws there, before the body runs.
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

TEST(clock, a_task_whose_arguments_cannot_be_read_is_given_back) {
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

TEST(clock, clocks_of_two_homes) {
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

TEST(clock, many_clocks_come_and_go) {
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

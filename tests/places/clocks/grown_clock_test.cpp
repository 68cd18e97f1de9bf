// SPDX-License-Identifier: Apache-2.0
// A clock with many tasks at its home and at other places. At a place with more than 16 workers it
// becomes a tree.
#include <array>
#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::clock;
using apgas::clocked;
using apgas::place;
using test::check;

constexpr int phases_in_all = 12;
constexpr int tasks_of_each = 50;  // place

// How many tasks of a place have come to the end of each phase.
struct arrivals {
  std::array<std::atomic<int>, phases_in_all> in{};
};
using all_arrivals = apgas::place_local<arrivals>;

// The body of task i of a place. The first one travels to another place after each phase, with its
// registration, and sees that all tasks there had arrived, too.
void advance_and_look(clock c, all_arrivals all, int i) {
  for (std::size_t p = 0; p < phases_in_all; ++p) {
    if (i % 5 == static_cast<int>(p % 5)) apgas::yield();  // so that some change workers
    ++all->in[p];
    c.advance();
    check(all->in[p] == tasks_of_each);
    if (i != 0) continue;
    const int there = apgas::at(
        test::next(apgas::here()), [](all_arrivals of, std::size_t n) { return of->in[n].load(); },
        all, p);
    check(there == tasks_of_each);
  }
}

void spawn_members(const clock& c, const all_arrivals& all) {
  for (int i = 0; i < tasks_of_each; ++i) {
    apgas::async(clocked(c), [c, all, i] { advance_and_look(c, all, i); });
  }
}

TEST(grown_clock, no_task_is_ahead_of_another) {
  for (place home : test::some_places()) {
    const auto all = all_arrivals::make(apgas::places(), [] { return arrivals(); });
    apgas::finish([home, all] {
      apgas::async_at(
          home,
          [](all_arrivals counts) {
            const clock c = clock::make();
            for (place p : apgas::places()) {
              apgas::async_at(
                  p, clocked(c), [](clock own, all_arrivals of) { spawn_members(own, of); }, c,
                  counts);
            }
          },
          all);
    });
  }
  test::expect_no_clocks_left();
}

}  // namespace

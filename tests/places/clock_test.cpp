// SPDX-License-Identifier: Apache-2.0
// Clocks whose tasks are at several places.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

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

// What a task wrote in a phase is seen in the next one at every place: a ring of places, each of
// which reads what its neighbour has sent to place 0.
TEST(clock, lock_step_over_all_places) {
  const int rounds = 200 / test::slower;
  std::array<std::atomic<int>, 4> at_phase{};
  const auto board = apgas::make_global<std::array<std::atomic<int>, 4>*>(&at_phase);
  apgas::finish([&] {
    const auto c = clock::make();
    for (place p : apgas::places()) {
      async_at(
          p, clocked(c),
          [](clock own, auto shared, int n) {
            const int me = apgas::here().id();
            for (int k = 0; k < n; ++k) {
              check(own.phase() == k);
              at(
                  place(0), [](auto r, int who, int value) { (**r)[who] = value; }, shared, me, k);
              own.advance();
              const int least = at(
                  place(0),
                  [](auto r) {
                    int m = 1 << 30;
                    for (int i = 0; i < apgas::num_places(); ++i)
                      m = std::min(m, (**r)[i].load());
                    return m;
                  },
                  shared);
              check(least >= k);
              own.advance();
              ++k;
            }
          },
          c, board, rounds);
    }
    c.drop();
  });
  board.forget();
}

TEST(clock, the_spawner_takes_part) {
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
  test::expect_no_clocks_left();
}

TEST(clock, local_tasks_of_remote_tasks) {
  apgas::finish([] {
    const auto c = clock::make();
    for (place p : apgas::places()) {
      async_at(
          p, clocked(c),
          [](clock own) {
            std::atomic<int> sum{0};
            apgas::finish([] {});
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

}  // namespace

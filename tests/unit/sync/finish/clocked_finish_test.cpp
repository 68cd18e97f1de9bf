// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::clock;
using apgas::clocked_async;
using apgas::clocked_finish;
using apgas::test::run_tasks;

TEST(ClockedFinish, RunsRounds) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      const int n = 200;
      std::vector<int> values(n, 0);
      std::vector<int> next(n, 0);
      for (int round = 0; round < 20; ++round) {
        clocked_finish([&] {
          for (int i = 0; i < n; ++i) {
            clocked_async([&, i] {
              next[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>((i + 1) % n)] + 1;
              clock::advance_all();
              values[static_cast<std::size_t>(i)] = next[static_cast<std::size_t>(i)];
            });
          }
        });
      }
      for (const int v : values) EXPECT_EQ(v, 20);
    });
  }
}

TEST(ClockedFinish, ReturnsItsValueAndNests) {
  run_tasks(2, [] {
    std::atomic<int> inner{0};
    const int value = clocked_finish([&] {
      clocked_async([&] {
        clock::advance_all();
        clocked_finish([&] {
          clocked_async([&] { ++inner; });
          clocked_async([&] {
            clock::advance_all();
            ++inner;
          });
        });
      });
      clock::advance_all();
      return 7;
    });
    EXPECT_EQ(value, 7);
    EXPECT_EQ(inner, 2);
  });
}

TEST(ClockedFinish, CollectsExceptions) {
  run_tasks(2, [] {
    EXPECT_THROW(clocked_finish([] {
                   clocked_async([] { throw std::runtime_error("x"); });
                   clocked_async([] { clock::advance_all(); });
                   clock::advance_all();
                 }),
                 apgas::multiple_exceptions);
  });
}

}  // namespace

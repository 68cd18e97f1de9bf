// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <apgas/async.hpp>

#include "support/scheduler_fixture.hpp"

// The memory that a very large number of tasks takes. It is a program of its own, because it
// measures the peak memory of the process.
namespace apgas::test {
namespace {

long most_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class Memory : public testing::TestWithParam<int> {
 protected:
  static constexpr int million = scaled(1'000'000, 50'000);
  static constexpr long most_mib = 128;
  void TearDown() override {
    if (APGAS_SANITIZED != 0) return;
    EXPECT_LT(most_memory_mib(), most_mib);
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, Memory, testing::Values(1, 2, 4));

TEST_P(Memory, IsBoundedForAMillionTasksSpawnedInOneLoop) {
  run_tasks(GetParam(), [] {
    std::atomic<int> ran{0};
    finish([&] {
      for (int i = 0; i < million; ++i) async([&] { ran.fetch_add(1, std::memory_order_relaxed); });
    });
    EXPECT_EQ(ran, million);
  });
}

TEST_P(Memory, IsBoundedForAMillionTasksWithLargeClosures) {
  run_tasks(GetParam(), [] {
    std::atomic<long> sum{0};
    struct {
      long numbers[16];
    } large{};
    large.numbers[15] = 1;
    finish([&] {
      for (int i = 0; i < million; ++i) {
        async([&sum, large] { sum.fetch_add(large.numbers[15], std::memory_order_relaxed); });
      }
    });
    EXPECT_EQ(sum, million);
  });
}

// Every tenth task suspends once; its stack must be returned.
TEST_P(Memory, IsBoundedForAMillionTasksOfWhichSomeSuspend) {
  run_tasks(GetParam(), [] {
    std::atomic<int> ran{0};
    finish([&] {
      for (int i = 0; i < million; ++i) {
        async([&, i] {
          if (i % 10 == 0) scheduler::yield();
          ran.fetch_add(1, std::memory_order_relaxed);
        });
      }
    });
    EXPECT_EQ(ran, million);
  });
}

}  // namespace
}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0

// Calls the functions of the plug-in as parlaylib and its programs do. It is compiled with
// -include apgas_parlay.hpp, as they are.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <parlay/parallel.h>

#include <apgas/apgas.hpp>

namespace {

// How often each iteration of [start, end) ran; 1 is right.
template <class Loop>
std::vector<int> runs_of(std::size_t n, Loop loop) {
  std::vector<std::atomic<int>> runs(n);
  loop([&](std::size_t i) { ++runs[i]; });
  return {runs.begin(), runs.end()};
}

std::int64_t fib(int n) {
  if (n < 2) return n;
  std::int64_t left = 0;
  std::int64_t right = 0;
  parlay::par_do([&] { left = fib(n - 1); }, [&] { right = fib(n - 2); });
  return left + right;
}

// As a global sequence of parlaylib, which destroys its elements in parallel after main, when the
// runtime has ended. A failure ends the process with a code that the test sees.
struct after_main {
  // NOLINTNEXTLINE(bugprone-exception-escape): would end the process, and fail the test
  ~after_main() {
    std::atomic<int> runs = 0;
    parlay::parallel_for(0, 1000, [&runs](std::size_t) { ++runs; });
    parlay::par_do([&runs] { ++runs; }, [&runs] { ++runs; });
    if (runs != 1002 || parlay::num_workers() != 1 || parlay::worker_id() != 0) std::_Exit(3);
  }
};
// Constructed before `early` starts the runtime, and so destroyed after the runtime has ended.
const after_main late;

// What a program computes before main, where it starts the runtime.
struct before_main {
  std::size_t workers = parlay::num_workers();
  std::int64_t fib_15 = fib(15);
  std::atomic<std::size_t> sum = 0;

  before_main() {
    parlay::parallel_for(0, 1000, [this](std::size_t i) { sum += i; });
  }
};
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): would fail the test
const before_main early;

TEST(parlay_plugin, works_before_main) {
  EXPECT_EQ(early.workers, parlay::num_workers());
  EXPECT_EQ(early.fib_15, 610);
  EXPECT_EQ(early.sum, 499500U);
}

TEST(parlay_plugin, runs_each_iteration_once) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 100U, 5000U}) {
    for (const long granularity : {0L, 1L, 7L, 5000L}) {
      for (const bool conservative : {false, true}) {
        const std::vector<int> runs = runs_of(n, [&](auto body) {
          parlay::parallel_for(
              10, 10 + n, [&](std::size_t i) { body(i - 10); }, granularity, conservative);
        });
        EXPECT_EQ(runs, std::vector<int>(n, 1)) << n << ' ' << granularity << ' ' << conservative;
      }
    }
  }
  parlay::parallel_for(5, 3, [](std::size_t) { FAIL() << "an iteration of an empty loop"; });
}

TEST(parlay_plugin, runs_no_more_tasks_than_the_granularity_allows) {
  // Consecutive iterations of one task have the same worker, and a chunk is one task.
  constexpr std::size_t n = 1000;
  std::vector<std::thread::id> by(n);
  parlay::parallel_for(0, n, [&](std::size_t i) { by[i] = std::this_thread::get_id(); }, 600);
  std::size_t changes = 0;
  for (std::size_t i = 1; i < n; ++i) changes += by[i] != by[i - 1] ? 1 : 0;
  EXPECT_LE(changes, 1U);
}

TEST(parlay_plugin, numbers_the_workers) {
  const std::size_t workers = parlay::num_workers();
  EXPECT_EQ(parlay::worker_id(), 0U);
  std::mutex lock;
  std::set<std::size_t> seen;
  parlay::parallel_for(0, 10000, [&](std::size_t) {
    EXPECT_EQ(parlay::num_workers(), workers);
    const std::lock_guard guard(lock);
    seen.insert(parlay::worker_id());
  });
  EXPECT_FALSE(seen.empty());
  EXPECT_LT(*seen.rbegin(), workers);
}

TEST(parlay_plugin, takes_bodies_that_cannot_be_copied) {
  auto owned = std::make_unique<std::atomic<int>>(0);
  std::atomic<int>& count = *owned;
  auto body = [mine = std::move(owned)](std::size_t) { ++*mine; };
  parlay::parallel_for(0, 100, body);
  parlay::par_do([one = std::make_unique<int>(1), &count]() mutable { count += *one; },
                 [two = std::make_unique<int>(2), &count]() mutable { count += *two; });
  EXPECT_EQ(count, 103);
}

TEST(parlay_plugin, nests) {
  std::atomic<std::size_t> sum = 0;
  parlay::parallel_for(
      0, 100, [&](std::size_t i) { parlay::parallel_for(0, i, [&](std::size_t) { ++sum; }); });
  EXPECT_EQ(sum, 4950U);
  EXPECT_EQ(fib(20), 6765);
}

TEST(parlay_plugin, serves_other_threads) {
  std::vector<std::int64_t> values(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(values.size());
    for (std::int64_t& value : values) threads.emplace_back([&value] { value = fib(16); });
  }
  EXPECT_EQ(values, std::vector<std::int64_t>(4, 987));
}

TEST(parlay_plugin, keeps_to_the_caller_if_conservative) {
  const std::thread::id caller = std::this_thread::get_id();
  std::mutex lock;
  const std::lock_guard guard(lock);
  int order = 0;
  parlay::par_do(
      [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(order++, 0);
      },
      [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(order++, 1);
      },
      true);
  EXPECT_EQ(order, 2);
}

// The number of exceptions that f() throws as one multiple_exceptions.
template <class F>
std::size_t exceptions_of(F f) {
  try {
    f();
  } catch (const apgas::multiple_exceptions& all) {
    return all.size();
  }
  return 0;
}

TEST(parlay_plugin, collects_the_exceptions_of_a_loop) {
  for (const std::size_t bad : {0U, 1U, 57U, 999U}) {
    for (const long granularity : {0L, 1L}) {
      std::vector<int> runs;
      EXPECT_EQ(exceptions_of([&] {
                  std::vector<std::atomic<int>> count(1000);
                  const auto take = [&] { runs.assign(count.begin(), count.end()); };
                  try {
                    parlay::parallel_for(
                        0, 1000,
                        [&](std::size_t i) {
                          ++count[i];
                          if (i == bad) throw std::runtime_error("bad");
                        },
                        granularity);
                  } catch (...) {
                    take();
                    throw;
                  }
                }),
                1U);
      EXPECT_EQ(runs, std::vector<int>(1000, 1)) << bad << ' ' << granularity;
    }
  }
  EXPECT_EQ(exceptions_of([] {
              parlay::parallel_for(0, 50, [](std::size_t) { throw std::logic_error("each"); });
            }),
            50U);
}

TEST(parlay_plugin, collects_the_exceptions_of_branches) {
  std::atomic<bool> right_ran = false;
  EXPECT_EQ(exceptions_of([&] {
              parlay::par_do([] { throw std::runtime_error("left"); }, [&] { right_ran = true; });
            }),
            1U);
  EXPECT_TRUE(right_ran);
  EXPECT_EQ(exceptions_of([] {
              parlay::par_do([] { throw std::runtime_error("left"); },
                             [] { throw std::runtime_error("right"); });
            }),
            2U);
}

TEST(parlay_plugin, throws_what_a_serial_loop_throws) {
  EXPECT_THROW(parlay::parallel_for(0, 1, [](std::size_t) { throw std::out_of_range("x"); }),
               std::out_of_range);
  EXPECT_THROW(parlay::parallel_for(
                   0, 9, [](std::size_t) { throw std::out_of_range("x"); }, 10),
               std::out_of_range);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <apgas/forall.hpp>

#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Parallel loops: forall, coforall and parallel_reduce.
namespace apgas::test {
namespace {

class Loop : public testing::TestWithParam<int> {
 protected:
  template <class F>
  void run(F f) {
    run_tasks(GetParam(), std::move(f));
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, Loop, testing::Values(1, 2, 4));

TEST_P(Loop, RunsEveryIterationOnce) {
  run([] {
    for (int n : {0, 1, 2, 3, 63, 64, 65, 1000, 20'000}) {
      for (std::ptrdiff_t grain : {0, 1, 7, 100'000}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
        forall(0, n, [&](int i) { ++seen[static_cast<std::size_t>(i)]; }, grain);
        for (auto& s : seen) ASSERT_EQ(s, 1) << n << " iterations, grain " << grain;
      }
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      coforall(0, n, [&](int i) { ++seen[static_cast<std::size_t>(i)]; });
      for (auto& s : seen) ASSERT_EQ(s, 1) << n << " tasks";
    }
  });
}

TEST_P(Loop, OverAnEmptyOrReversedRangeDoesNothing) {
  run([] {
    auto never = [](auto) { ADD_FAILURE(); };
    forall(5, 5, never);
    forall(5, -5, never);
    coforall(5, 5, never);
    coforall(5, -5, never);
    forall(std::vector<int>{}, never);
    auto add = [](int a, int b) { return a + b; };
    EXPECT_EQ(parallel_reduce(3, 3, 42, [](int i) { return i; }, add), 42);
    EXPECT_EQ(parallel_reduce(3, -3, 42, [](int i) { return i; }, add), 42);
  });
}

TEST(LoopRange, AWorkerPrefersTheHalfWithItsShare) {
  auto nothing = [](int) {};
  const apgas::detail::loop of_four(nothing, 100, 500, 4, 1, std::source_location::current());
  const auto prefers_second = [&](int worker, int first, int last) {
    return of_four.prefers_second(worker, first, (first + last) / 2, last);
  };
  EXPECT_FALSE(prefers_second(0, 100, 500));
  EXPECT_FALSE(prefers_second(1, 100, 500));
  EXPECT_TRUE(prefers_second(2, 100, 500));
  EXPECT_TRUE(prefers_second(3, 100, 500));
  EXPECT_FALSE(prefers_second(0, 100, 300));
  EXPECT_TRUE(prefers_second(1, 100, 300));
  EXPECT_FALSE(prefers_second(2, 300, 500));
  EXPECT_TRUE(prefers_second(3, 300, 500));
  // A worker that has stolen from the share of another one takes what is nearer to its own.
  EXPECT_FALSE(prefers_second(0, 300, 500));
  EXPECT_TRUE(prefers_second(3, 100, 300));
  // Within a share the first half comes first.
  EXPECT_FALSE(prefers_second(3, 400, 500));
  EXPECT_FALSE(prefers_second(3, 100, 200));
}

TEST_P(Loop, TakesUnsignedAndWideIndices) {
  run([] {
    std::atomic<std::uint64_t> sum{0};
    forall(std::uint8_t{250}, std::uint8_t{255}, [&](std::uint8_t i) { sum += i; });
    EXPECT_EQ(sum, 250u + 251 + 252 + 253 + 254);
    sum = 0;
    const std::uint64_t high = std::uint64_t{1} << 63;
    forall(high, high + 1000, [&](std::uint64_t i) { sum += i - high; });
    EXPECT_EQ(sum, 999u * 1000 / 2);
    sum = 0;
    forall(-500, 500, [&](int i) { sum += static_cast<std::uint64_t>(i + 500); });
    EXPECT_EQ(sum, 999u * 1000 / 2);
  });
}

// The number of iterations does not fit the type of the index. With signed char they are few enough
// to be run.
TEST_P(Loop, MayHaveMoreIterationsThanTheIndexTypeCanCount) {
  run_tasks(GetParam(), [] {
    EXPECT_EQ(detail::length(-2'000'000'000, 2'000'000'000), 4'000'000'000U);
    EXPECT_EQ(detail::middle_of(-2'000'000'000, 2'000'000'000), 0);
    EXPECT_EQ(detail::length(INT64_MIN, INT64_MAX), UINT64_MAX);
    EXPECT_EQ(detail::advanced<signed char>(-128, 200), 72);
    std::vector<std::atomic<int>> ran(256);
    const auto count = [&](signed char i) { ++ran[static_cast<std::size_t>(i + 128)]; };
    const auto low = static_cast<signed char>(-128);
    forall(low, static_cast<signed char>(127), count);
    coforall(low, static_cast<signed char>(127), count);
    for (std::size_t i = 0; i < 255; ++i) EXPECT_EQ(ran[i], 2) << i;
    const auto one = [](signed char) { return 1; };
    EXPECT_EQ(parallel_reduce(low, static_cast<signed char>(127), 0, one, std::plus<>{}), 255);
  });
}

TEST_P(Loop, OverARangeChangesItsElements) {
  run([] {
    std::vector<int> numbers(10'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    forall(numbers, [](int& x) { x *= 2; });
    coforall(numbers, [](int& x) { x += 1; });
    for (int i = 0; i < 10'000; ++i) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], 2 * i + 1);
  });
}

TEST_P(Loop, RunsAllIterationsEvenIfSomeThrow) {
  run([] {
    static constexpr int n = 3000;
    auto check = [](auto loop) {
      std::atomic<int> ran{0};
      try {
        loop([&](int i) {
          ++ran;
          if (i % 500 == 0) throw std::runtime_error(std::to_string(i));
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const multiple_exceptions& e) {
        EXPECT_EQ(e.size(), 6u);
      }
      EXPECT_EQ(ran, n);
    };
    check([](auto body) { forall(0, n, body); });
    check([](auto body) { forall(0, n, body, 1); });
    check([](auto body) { coforall(0, n, body); });
  });
}

// Each iteration of a coforall is a task, so all of them may be suspended at once.
TEST_P(Loop, TasksOfACoforallMayWaitForEachOther) {
  run([] {
    static constexpr int n = scaled(2000, 200);
    std::atomic<int> arrived{0}, together{0};
    coforall(0, n, [&](int) {
      ++arrived;
      together += yields_until([&] { return arrived == n; }) ? 1 : 0;
    });
    EXPECT_EQ(together, n);
  });
}

TEST_P(Loop, DoesNotWaitForTheTasksOfItsIterations) {
  run([] {
    std::atomic<bool> after{false};
    std::atomic<int> escaped{0};
    finish([&] {
      forall(0, 100, [&](int) {
        async([&] { escaped += yields_until([&] { return after.load(); }) ? 1 : 0; });
      });
      coforall(0, 100, [&](int) {
        async([&] { escaped += yields_until([&] { return after.load(); }) ? 1 : 0; });
      });
      after = true;
    });
    EXPECT_EQ(escaped, 200);
  });
}

TEST_P(Loop, MayBeNestedAndSuspend) {
  run([] {
    std::atomic<int> ran{0};
    forall(0, 50, [&](int i) {
      if (i % 10 == 0) scheduler::yield();
      coforall(0, 10, [&](int) {
        scheduler::yield();
        forall(0, 10, [&](int) { ++ran; });
      });
    });
    EXPECT_EQ(ran, 5000);
  });
}

TEST_P(Loop, ReducesInOrder) {
  run([] {
    for (int n : {1, 2, 100, 5000}) {
      for (std::ptrdiff_t grain : {0, 1, 7, 100'000}) {
        const std::string text = parallel_reduce(
            0, n, std::string(),
            [](int i) { return std::string(1, static_cast<char>('a' + i % 26)); },
            [](std::string a, const std::string& b) { return std::move(a) + b; }, grain);
        ASSERT_EQ(text.size(), static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) {
          ASSERT_EQ(text[static_cast<std::size_t>(i)], static_cast<char>('a' + i % 26)) << grain;
        }
      }
    }
  });
}

TEST_P(Loop, AReductionOfASingleGrainIsNotSplit) {
  run([] {
    std::atomic<int> additions{0};
    const auto sum_by = [&](std::ptrdiff_t grain) {
      additions = 0;
      const auto add = [&](int a, int b) {
        ++additions;
        return a + b;
      };
      return parallel_reduce(0, 1000, 0, [](int i) { return i; }, add, grain);
    };
    EXPECT_EQ(sum_by(1000), 499'500);
    EXPECT_EQ(additions, 1000);
    EXPECT_EQ(sum_by(999), 499'500);
    EXPECT_EQ(additions, 1002);  // in two halves, whose results are added
  });
}

TEST_P(Loop, AReductionThrowsTheExceptionsOfItsIterations) {
  run([] {
    auto add = [](int a, int b) { return a + b; };
    EXPECT_THROW(parallel_reduce(
                     0, 1000, 0, [](int i) -> int { return i == 700 ? throw i : i; }, add),
                 multiple_exceptions);
    EXPECT_EQ(parallel_reduce(0, 1000, 0, [](int i) { return i; }, add), 499'500);
  });
}

}  // namespace
}  // namespace apgas::test

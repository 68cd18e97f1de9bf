// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/parallel.hpp>

#include "algorithm_data.hpp"

// for_each, transform, reduce and transform_reduce.
namespace apgas::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Workers, Algorithms, testing::Values(1, 2, 4));

TEST_P(Algorithms, ForEachVisitsEveryElementOnce) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      std::vector<int> seen(n);
      parallel::for_each(seen, [](int& x) { ++x; });
      parallel::for_each(seen.begin(), seen.end(), [](int& x) { ++x; });
      parallel::for_each(std::span(seen), [](int& x) { ++x; });
      ASSERT_TRUE(std::ranges::all_of(seen, [](int x) { return x == 3; })) << n;
    }
    std::deque<int> queue(1000, 1);
    parallel::for_each(queue, [](int& x) { x *= 5; });
    EXPECT_EQ(std::accumulate(queue.begin(), queue.end(), 0), 5000);
    std::atomic<int> sum{0};
    parallel::for_each(std::views::iota(0, 1000), [&](int x) { sum += x; });
    EXPECT_EQ(sum, 999 * 500);
    std::vector<int> reversed{3, 2};
    parallel::for_each(reversed.end(), reversed.begin(), [](int&) { ADD_FAILURE(); });
  });
}

TEST_P(Algorithms, TransformWritesWhatStdWrites) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, -1000, 1000, 1);
      const std::vector<int> y = random_ints(n, -1000, 1000, 2);
      std::vector<long> expected(n);
      std::vector<long> found(n);
      const auto twice = [](int v) { return 2L * v; };
      std::transform(x.begin(), x.end(), expected.begin(), twice);
      ASSERT_EQ(parallel::transform(x.begin(), x.end(), found.begin(), twice), found.end());
      ASSERT_EQ(found, expected);
      std::transform(x.begin(), x.end(), y.begin(), expected.begin(), std::minus<>());
      ASSERT_EQ(parallel::transform(x, y, found.begin(), std::minus<>()), found.end());
      ASSERT_EQ(found, expected);
      std::vector<int> in_place = x;
      parallel::transform(in_place, y, in_place.begin(), std::plus<>());
      parallel::transform(y, in_place, in_place.begin(), [](int a, int b) { return b - a; });
      parallel::transform(in_place, in_place.begin(), [](int v) { return v + 1; });
      parallel::transform(in_place, in_place.begin(), [](int v) { return v - 1; });
      ASSERT_EQ(in_place, x);
    }
    const std::vector<std::string> words{"a", "bcd", ""};
    std::vector<std::size_t> sizes(3);
    parallel::transform(words, sizes.begin(), &std::string::size);
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 3, 0}));
  });
}

TEST_P(Algorithms, ReduceSumsAsStdDoes) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, -1000, 1000, 3);
      ASSERT_EQ(parallel::reduce(x), std::reduce(x.begin(), x.end()));
      ASSERT_EQ(parallel::reduce(x.begin(), x.end(), 7L), std::reduce(x.begin(), x.end(), 7L));
      const auto greater = [](int a, int b) { return std::max(a, b); };
      ASSERT_EQ(parallel::reduce(x, -2000, greater),
                std::reduce(x.begin(), x.end(), -2000, greater));
      const auto square = [](int v) { return static_cast<long>(v) * v; };
      ASSERT_EQ(parallel::transform_reduce(x, 1L, std::plus<>(), square),
                std::transform_reduce(x.begin(), x.end(), 1L, std::plus<>(), square));
      ASSERT_EQ(parallel::transform_reduce(x.begin(), x.end(), x.begin(), 1L),
                std::transform_reduce(x.begin(), x.end(), x.begin(), 1L));
      ASSERT_EQ(parallel::transform_reduce(x, x, 1L, std::plus<>(), std::minus<>()), 1);
    }
    // The sum is formed in the type of the first value.
    const std::vector<int> large(1000, std::numeric_limits<int>::max());
    EXPECT_EQ(parallel::reduce(large, 0L), 1000L * std::numeric_limits<int>::max());
  });
}

TEST_P(Algorithms, ReduceKeepsTheOrderOfTheOperands) {
  run([] {
    std::vector<std::string> words;
    std::string expected = "<";
    for (int i = 0; i < 5000; ++i) {
      words.push_back(std::to_string(i));
      expected += words.back();
    }
    EXPECT_EQ(parallel::reduce(words, std::string("<")), expected);
    EXPECT_EQ(parallel::transform_reduce(words, std::string("<"), std::plus<>(), std::identity()),
              expected);
    // A type without a default constructor.
    const std::vector<counted> numbers = made_of<counted>(random_ints(3000, 0, 9, 4));
    const auto last = [](const counted&, const counted& b) { return b; };
    EXPECT_EQ(parallel::reduce(numbers, counted(5), last), numbers.back());
  });
  EXPECT_EQ(counted::alive, 0);
}

// Every number of workers gives the same roundings.
TEST(Reduce, OfFloatingPointNumbersIsTheSameInEveryRun) {
  std::vector<double> x(100'003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);
  std::vector<double> sums;
  for (const int workers : {1, 2, 3, 4, 4}) {
    run_tasks(workers, [&] {
      sums.push_back(parallel::reduce(x, 0.0));
      sums.push_back(parallel::reduce(x, 0.0));
    });
  }
  EXPECT_NEAR(sums[0], std::accumulate(x.begin(), x.end(), 0.0), 1e-9);
  for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
}

}  // namespace
}  // namespace apgas::test

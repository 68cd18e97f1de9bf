// SPDX-License-Identifier: Apache-2.0
#include <apgas/parallel/merge.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "algorithm_data.hpp"

// merge.
namespace apgas::test {
namespace {

std::vector<int> sorted_ints(std::size_t n, int to, unsigned seed) {
  std::vector<int> x = random_ints(n, 0, to, seed);
  std::ranges::sort(x);
  return x;
}

TEST_P(Algorithms, MergeWritesWhatStdWrites) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      for (const std::size_t m : {std::size_t{0}, std::size_t{1}, n / 5, n, 3 * n}) {
        for (const int to : {0, 10, 1'000'000}) {
          const std::vector<int> x = sorted_ints(n, to, 21);
          const std::vector<int> y = sorted_ints(m, to, 22);
          std::vector<int> expected(n + m);
          std::ranges::merge(x, y, expected.begin());
          std::vector<int> found(n + m);
          ASSERT_EQ(parallel::merge(x, y, found.begin()), found.end());
          ASSERT_EQ(found, expected) << n << " and " << m;
        }
      }
    }
  });
}

TEST_P(Algorithms, MergeIsStable) {
  run([] {
    using item = std::pair<int, std::string>;
    std::vector<item> x;
    std::vector<item> y;
    for (const int v : sorted_ints(7000, 50, 23))
      x.emplace_back(v, "first " + std::to_string(x.size()));
    for (const int v : sorted_ints(9000, 50, 24))
      y.emplace_back(v, "second " + std::to_string(y.size()));
    const auto by_key = [](const item& a, const item& b) { return a.first < b.first; };
    std::vector<item> expected(16'000);
    std::vector<item> found(16'000);
    std::merge(x.begin(), x.end(), y.begin(), y.end(), expected.begin(), by_key);
    parallel::merge(x.begin(), x.end(), y.begin(), y.end(), found.begin(), by_key);
    EXPECT_EQ(found, expected);
  });
}

TEST_P(Algorithms, MergeTakesAnotherOrderAndOtherTypes) {
  run([] {
    std::vector<int> x = sorted_ints(5000, 100, 25);
    std::vector<long> y(x.begin(), x.end());
    std::ranges::reverse(x);
    std::ranges::reverse(y);
    std::vector<double> found(10'000);
    parallel::merge(x, y, found.begin(), std::greater<>());
    EXPECT_TRUE(std::ranges::is_sorted(found, std::greater<>()));
  });
}

}  // namespace
}  // namespace apgas::test

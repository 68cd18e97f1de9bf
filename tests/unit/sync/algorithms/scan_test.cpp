// SPDX-License-Identifier: Apache-2.0
#include <apgas/parallel/scan.hpp>

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "algorithm_data.hpp"

// inclusive_scan and exclusive_scan.
namespace apgas::test {
namespace {

TEST_P(Algorithms, ScansWriteWhatStdWrites) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, -1000, 1000, 5);
      std::vector<int> expected(n);
      std::vector<int> found(n);
      std::inclusive_scan(x.begin(), x.end(), expected.begin());
      ASSERT_EQ(parallel::inclusive_scan(x.begin(), x.end(), found.begin()), found.end());
      ASSERT_EQ(found, expected) << n;
      found = x;
      parallel::inclusive_scan(found, found.begin(), std::plus<>());  // in place
      ASSERT_EQ(found, expected) << n;
      const auto greater = [](int a, int b) { return std::max(a, b); };
      std::inclusive_scan(x.begin(), x.end(), expected.begin(), greater, 900);
      parallel::inclusive_scan(x, found.begin(), greater, 900);
      ASSERT_EQ(found, expected) << n;
      std::exclusive_scan(x.begin(), x.end(), expected.begin(), 17);
      ASSERT_EQ(parallel::exclusive_scan(x.begin(), x.end(), found.begin(), 17), found.end());
      ASSERT_EQ(found, expected) << n;
      found = x;
      parallel::exclusive_scan(found, found.begin(), 17, std::plus<>());
      ASSERT_EQ(found, expected) << n;
    }
  });
}

TEST_P(Algorithms, ScanKeepsTheOrderOfTheOperands) {
  run([] {
    std::vector<std::string> letters;
    for (int i = 0; i < 700; ++i) letters.push_back(std::to_string(i % 10));
    std::vector<std::string> expected(letters.size());
    std::vector<std::string> found(letters.size());
    std::inclusive_scan(letters.begin(), letters.end(), expected.begin());
    parallel::inclusive_scan(letters, found.begin());
    EXPECT_EQ(found, expected);
    std::exclusive_scan(letters.begin(), letters.end(), expected.begin(), std::string("<"));
    parallel::exclusive_scan(letters, letters.begin(), std::string("<"));
    EXPECT_EQ(letters, expected);
  });
}

TEST_P(Algorithms, ScanNeedsNoDefaultConstructor) {
  run([] {
    const std::vector<int> x = random_ints(10'000, 0, 100, 6);
    std::vector<counted> elements = made_of<counted>(x);
    const auto add = [](const counted& a, const counted& b) { return counted(a.value + b.value); };
    parallel::inclusive_scan(elements, elements.begin(), add);
    std::vector<int> expected(x.size());
    std::inclusive_scan(x.begin(), x.end(), expected.begin());
    EXPECT_EQ(values_of(elements), expected);
  });
  EXPECT_EQ(counted::alive, 0);
}

// The last element of a scan of longer sums than the elements can hold.
TEST_P(Algorithms, ScanSumsInTheTypeOfTheFirstValue) {
  run([] {
    const std::vector<signed char> x(100'000, 100);
    std::vector<long> sums(x.size());
    parallel::exclusive_scan(x, sums.begin(), 0L);
    EXPECT_EQ(sums.back(), 99'999L * 100);
  });
}

}  // namespace
}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#include <apgas/parallel/search.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "algorithm_data.hpp"

// find_if, min_element and max_element.
namespace apgas::test {
namespace {

TEST_P(Algorithms, FindIfReturnsTheFirstMatch) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      std::vector<int> x(n);
      const auto one = [](int v) { return v == 1; };
      ASSERT_EQ(parallel::find_if(x, one), x.end());
      for (const std::size_t at : {std::size_t{0}, n / 3, n - 1}) {
        if (at >= n) continue;
        x[at] = 1;
        x[n - 1] = 1;
        ASSERT_EQ(parallel::find_if(x.begin(), x.end(), one) - x.begin(),
                  std::ranges::find(x, 1) - x.begin())
            << n << " elements";
        x[at] = x[n - 1] = 0;
      }
    }
  });
}

TEST_P(Algorithms, FindIfStopsSoonAfterTheMatch) {
  run([] {
    std::vector<int> x(500'000);
    for (const std::size_t at : {std::size_t{0}, std::size_t{5000}, std::size_t{60'000}}) {
      x[at] = 1;
      std::atomic<std::size_t> visits{0};
      const auto found = parallel::find_if(x, [&](int v) {
        ++visits;
        return v == 1;
      });
      EXPECT_EQ(found, x.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_GT(visits, at);
      EXPECT_LE(visits, std::max<std::size_t>(2 * at, 4096));
      x[at] = 0;
    }
  });
}

TEST_P(Algorithms, TheFirstOfTheLeastAndGreatestIsFound) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, 0, 50, 12);  // many are equal
      ASSERT_EQ(parallel::min_element(x), std::ranges::min_element(x));
      ASSERT_EQ(parallel::max_element(x.begin(), x.end()), std::max_element(x.begin(), x.end()));
      ASSERT_EQ(parallel::min_element(x, std::greater<>()),
                std::min_element(x.begin(), x.end(), std::greater<>()));
      ASSERT_EQ(parallel::max_element(x, std::greater<>()),
                std::max_element(x.begin(), x.end(), std::greater<>()));
      const std::vector<double> y(x.begin(), x.end());
      ASSERT_EQ(parallel::min_element(y) - y.begin(), std::ranges::min_element(y) - y.begin());
      ASSERT_EQ(parallel::max_element(y) - y.begin(),
                std::max_element(y.begin(), y.end()) - y.begin());
      const auto last_digit = [](int a, int b) { return a % 10 < b % 10; };
      ASSERT_EQ(parallel::max_element(x, last_digit),
                std::max_element(x.begin(), x.end(), last_digit));
      const std::vector<counted> z = made_of<counted>(x);
      ASSERT_EQ(parallel::max_element(z) - z.begin(),
                std::max_element(z.begin(), z.end()) - z.begin());
    }
    std::vector<int> reversed{1, 2};
    EXPECT_EQ(parallel::min_element(reversed.end(), reversed.begin()), reversed.begin());
  });
}

}  // namespace
}  // namespace apgas::test

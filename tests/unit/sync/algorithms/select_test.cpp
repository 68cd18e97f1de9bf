// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/parallel.hpp>

#include "algorithm_data.hpp"

// copy_if, filter, pack, partition and stable_partition.
namespace apgas::test {
namespace {

// Accepts a share of numbers from 0 to 99.
struct below {
  int limit;
  bool operator()(int x) const { return x < limit; }
};

TEST_P(Algorithms, SelectionsKeepTheOrder) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, 0, 99, 7);
      for (const below accepted : {below{0}, below{3}, below{50}, below{100}}) {
        std::vector<int> expected;
        std::ranges::copy_if(x, std::back_inserter(expected), accepted);
        std::vector<int> found(expected.size());
        ASSERT_EQ(parallel::copy_if(x, found.begin(), accepted), found.end());
        ASSERT_EQ(found, expected);
        ASSERT_EQ(parallel::filter(x, accepted), expected);
        std::vector<bool> bits(n);
        std::vector<char> flags(n);
        for (std::size_t i = 0; i < n; ++i) {
          bits[i] = accepted(x[i]);
          flags[i] = accepted(x[i]) ? 'x' : '\0';
        }
        ASSERT_EQ(parallel::pack(x, bits), expected);
        ASSERT_EQ(parallel::pack(x, flags), expected);
      }
    }
  });
}

TEST_P(Algorithms, SelectionsCallThePredicateOnceForEachElement) {
  run([] {
    const std::vector<int> x = random_ints(70'000, 0, 99, 8);
    std::atomic<std::size_t> calls{0};
    const auto even = [&](int v) {
      ++calls;
      return v % 2 == 0;
    };
    std::vector<int> to(x.size());
    parallel::copy_if(x, to.begin(), even);
    EXPECT_EQ(calls.exchange(0), x.size());
    static_cast<void>(parallel::filter(x.begin(), x.end(), even));
    EXPECT_EQ(calls.exchange(0), x.size());
    to = x;
    parallel::partition(to, even);
    EXPECT_EQ(calls.exchange(0), x.size());
    parallel::stable_partition(to, even);
    EXPECT_EQ(calls.exchange(0), x.size());
  });
}

TEST_P(Algorithms, SelectionsTakeElementsOfEveryKind) {
  run([] {
    const std::vector<int> x = random_ints(9000, 0, 99, 9);
    std::vector<int> expected;
    std::ranges::copy_if(x, std::back_inserter(expected), below{30});
    const auto accepted = [](const counted& c) { return c.value < 30; };
    const std::vector<counted> elements = made_of<counted>(x);  // no default constructor
    EXPECT_EQ(values_of(parallel::filter(elements, accepted)), expected);
    std::vector<bool> bits(9000);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = x[i] < 30;
    EXPECT_EQ(parallel::pack(bits, bits), std::vector<bool>(expected.size(), true));
    std::vector<std::string> words(9000, "a longer text than fits into the string itself");
    EXPECT_EQ(parallel::pack(words, bits).size(), expected.size());
  });
  EXPECT_EQ(counted::alive, 0);
}

template <class T, class Accepted>
void check_partition(std::size_t n, int limit, Accepted accepted) {
  const std::vector<int> x = random_ints(n, 0, 99, 10);
  const auto boundary = std::ranges::count_if(x, below{limit});
  std::vector<T> v = made_of<T>(x);
  ASSERT_EQ(parallel::partition(v.begin(), v.end(), accepted) - v.begin(), boundary);
  ASSERT_TRUE(std::is_partitioned(v.begin(), v.end(), accepted)) << n << ", limit " << limit;
  std::vector<int> sorted = x;
  std::ranges::sort(sorted);
  std::vector<int> found;
  for (const T& e : v) found.push_back(static_cast<int>(e.value));
  std::ranges::sort(found);
  ASSERT_EQ(found, sorted);
}

struct small {
  explicit small(int v) : value(v) {}
  int value;
};

TEST_P(Algorithms, PartitionMovesAcceptedElementsToTheFront) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      for (const int limit : {0, 1, 50, 99, 100}) {
        check_partition<small>(n, limit, [=](const small& e) { return e.value < limit; });
        check_partition<move_only>(n, limit, [=](const move_only& e) { return e.value < limit; });
      }
    }
  });
}

TEST_P(Algorithms, StablePartitionKeepsTheOrder) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, 0, 99, 11);
      std::vector<int> expected = x;
      std::vector<int> found = x;
      const auto boundary = std::ranges::stable_partition(expected, below{40}).begin();
      const auto end = parallel::stable_partition(found, below{40});
      ASSERT_EQ(found, expected);
      ASSERT_EQ(end - found.begin(), boundary - expected.begin());
      std::vector<move_only> elements = made_of<move_only>(x);
      parallel::stable_partition(elements.begin(), elements.end(),
                                 [](const move_only& e) { return e.value < 40; });
      ASSERT_EQ(values_of(elements), expected);
    }
  });
}

}  // namespace
}  // namespace apgas::test

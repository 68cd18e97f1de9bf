// SPDX-License-Identifier: Apache-2.0
#include <apgas/parallel/sort.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/parallel/integer_sort.hpp>

#include "algorithm_data.hpp"

// sort, stable_sort and integer_sort.
namespace apgas::test {
namespace {

// Sequences that make a careless quicksort quadratic, or that have many equal elements.
std::vector<std::vector<int>> patterns(std::size_t n) {
  const int most = static_cast<int>(n);
  std::vector<std::vector<int>> all = {random_ints(n, -1'000'000'000, 1'000'000'000, 13),
                                       random_ints(n, 0, 3, 14), std::vector<int>(n, 5)};
  std::vector<int> x(n);
  std::iota(x.begin(), x.end(), 0);
  all.push_back(x);
  std::ranges::reverse(x);
  all.push_back(x);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<int>(std::min(i, n - i));  // organ pipe
  all.push_back(x);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<int>(i % 37);  // saw
  all.push_back(x);
  std::iota(x.begin(), x.end(), 0);
  if (n > 2) std::swap(x[n / 2], x[n - 1]);
  if (n > 2) x[0] = most;
  all.push_back(x);
  return all;
}

TEST_P(Algorithms, SortsSequencesOfEveryPattern) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      for (const std::vector<int>& x : patterns(n)) {
        std::vector<int> expected = x;
        std::ranges::sort(expected);
        std::vector<int> found = x;
        parallel::sort(found);
        ASSERT_EQ(found, expected) << n;
        found = x;
        parallel::stable_sort(found);
        ASSERT_EQ(found, expected) << n;
        found = x;
        parallel::integer_sort(found);
        ASSERT_EQ(found, expected) << n;
        std::ranges::reverse(expected);
        parallel::sort(found.begin(), found.end(), std::greater<>());
        ASSERT_EQ(found, expected) << n;
      }
    }
  });
}

// The comparisons of a killer sequence for quicksort (McIlroy, 1999): the order of the elements is
// chosen while they are compared, such that each pivot is bad.
TEST(Sort, TakesNLogNComparisonsWhateverTheOrder) {
  run_tasks(1, [] {
    constexpr int n = 20'000;
    constexpr int gas = n;
    std::vector<int> value(n, gas);
    int solid = 0;
    int candidate = 0;
    std::size_t comparisons = 0;
    struct item {
      int index;
      ~item() {}  // not trivially copyable: elements are compared where they are
    };
    std::vector<item> items;
    for (int i = 0; i < n; ++i) items.push_back({i});
    const auto less = [&](const item& x, const item& y) {
      ++comparisons;
      auto& a = value[static_cast<std::size_t>(x.index)];
      auto& b = value[static_cast<std::size_t>(y.index)];
      if (a == gas && b == gas) (x.index == candidate ? a : b) = solid++;
      if (a == gas) {
        candidate = x.index;
      } else if (b == gas) {
        candidate = y.index;
      }
      return a < b;
    };
    parallel::sort(items, less);
    EXPECT_TRUE(std::is_sorted(items.begin(), items.end(), less));
    EXPECT_LT(static_cast<double>(comparisons), 10 * n * std::log2(n));
  });
}

TEST_P(Algorithms, SortTakesElementsThatCanOnlyBeMoved) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      const std::vector<int> x = random_ints(n, 0, 1000, 15);
      std::vector<int> expected = x;
      std::ranges::sort(expected);
      std::vector<move_only> v = made_of<move_only>(x);
      parallel::sort(v);
      ASSERT_EQ(values_of(v), expected);
      v = made_of<move_only>(x);
      parallel::stable_sort(v.begin(), v.end());
      ASSERT_EQ(values_of(v), expected);
      v = made_of<move_only>(x);
      parallel::integer_sort(v, &move_only::value);
      ASSERT_EQ(values_of(v), expected);
    }
  });
}

TEST_P(Algorithms, SortTakesStringsAndDeques) {
  run([] {
    std::vector<std::string> words;
    for (const int v : random_ints(20'000, 0, 1'000'000, 16)) {
      words.push_back("a common prefix of all words " + std::to_string(v));
    }
    std::vector<std::string> expected = words;
    std::ranges::sort(expected);
    std::vector<std::string> found = words;
    parallel::sort(found);
    EXPECT_EQ(found, expected);
    std::deque<std::string> queue(words.begin(), words.end());
    parallel::stable_sort(queue);
    EXPECT_TRUE(std::ranges::equal(queue, expected));
    const std::vector<int> x = random_ints(20'000, -100, 100, 17);
    std::deque<int> numbers(x.begin(), x.end());
    parallel::sort(numbers);
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
  });
}

struct record {
  int key;
  int position;
  friend bool operator==(const record&, const record&) = default;
};
struct named : record {
  std::string name = "longer than what fits into the string itself";
};

template <class T>
void check_stability(std::size_t n) {
  std::vector<T> x(n);
  const std::vector<int> keys = random_ints(n, -20, 20, 18);
  for (std::size_t i = 0; i < n; ++i) {
    x[i].key = keys[i];
    x[i].position = static_cast<int>(i);
  }
  const auto by_key = [](const T& a, const T& b) { return a.key < b.key; };
  std::vector<T> expected = x;
  std::ranges::stable_sort(expected, by_key);
  std::vector<T> found = x;
  parallel::stable_sort(found, by_key);
  ASSERT_EQ(found, expected) << n;
  found = x;
  parallel::integer_sort(found, [](const T& e) { return e.key; });
  ASSERT_EQ(found, expected) << n;
}

TEST_P(Algorithms, StableSortAndIntegerSortKeepTheOrderOfEqualElements) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      check_stability<record>(n);
      check_stability<named>(n);
    }
  });
}

template <class Key>
void check_keys() {
  std::vector<Key> x;
  for (const int v : random_ints(5000, -1'000'000, 1'000'000, 19)) {
    x.push_back(static_cast<Key>(static_cast<std::int64_t>(v) * 0x1234567));
  }
  std::vector<Key> expected = x;
  std::ranges::sort(expected);
  parallel::integer_sort(x);
  ASSERT_EQ(x, expected);
}

TEST_P(Algorithms, IntegerSortTakesKeysOfEveryWidthAndSign) {
  run([] {
    check_keys<std::int8_t>();
    check_keys<std::uint8_t>();
    check_keys<std::int16_t>();
    check_keys<std::uint32_t>();
    check_keys<std::int64_t>();
    check_keys<std::uint64_t>();
    std::vector<record> x;
    for (const int v : random_ints(5000, 0, 99, 20)) x.push_back({v, 0});
    parallel::integer_sort(x.begin(), x.end(), [](const record& r) { return r.key > 50; });
    EXPECT_TRUE(std::ranges::is_partitioned(x, [](const record& r) { return r.key <= 50; }));
  });
}

}  // namespace
}  // namespace apgas::test

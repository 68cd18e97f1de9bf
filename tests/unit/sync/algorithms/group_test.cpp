// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/parallel/collect_reduce.hpp>
#include <apgas/parallel/histogram.hpp>

#include "algorithm_data.hpp"

// histogram, collect_reduce and group_by.
namespace apgas::test {
namespace {

TEST_P(Algorithms, HistogramCountsTheElementsOfEachBucket) {
  run([] {
    for (const std::size_t n : many_sizes()) {
      for (const int buckets : {1, 10, 5000, 200'000}) {
        const std::vector<int> x = random_ints(n, 0, buckets - 1, 26);
        std::vector<std::size_t> expected(static_cast<std::size_t>(buckets));
        for (const int v : x) ++expected[static_cast<std::size_t>(v)];
        ASSERT_EQ(parallel::histogram(x, expected.size()), expected);
      }
    }
    EXPECT_TRUE(parallel::histogram(std::vector<int>{}, 0).empty());
    const std::vector<std::string> words{"a", "bcd", "e"};
    const auto length = [](const std::string& w) { return w.size(); };
    EXPECT_EQ(parallel::histogram(words.begin(), words.end(), 4, length),
              (std::vector<std::size_t>{0, 2, 0, 1}));
  });
}

// The groups in the order of their first elements, by a serial loop.
std::vector<std::pair<int, std::string>> texts_by_group(const std::vector<int>& x, int groups) {
  std::vector<std::pair<int, std::string>> found;
  std::unordered_map<int, std::size_t> where;
  for (const int v : x) {
    const auto [at, is_new] = where.try_emplace(v % groups, found.size());
    if (is_new) found.emplace_back(v % groups, "");
    found[at->second].second += std::to_string(v) + " ";
  }
  return found;
}

TEST_P(Algorithms, CollectReduceKeepsTheOrderOfKeysAndOperands) {
  run([] {
    for (const std::size_t n : {0U, 1U, 2U, 100U, 5000U, 40'000U}) {
      for (const int groups : {1, 7, 1000, 1'000'000}) {
        const std::vector<int> x = random_ints(n, 0, 1'000'000, 27);
        const auto key = [groups](int v) { return v % groups; };
        const auto text = [](int v) { return std::to_string(v) + " "; };
        ASSERT_EQ(parallel::collect_reduce(x, key, text, std::plus<>()), texts_by_group(x, groups))
            << n << " elements, " << groups << " groups";
      }
    }
  });
}

TEST_P(Algorithms, CollectReduceTakesKeysOfEveryKind) {
  run([] {
    std::vector<std::string> words;
    for (const int v : random_ints(3000, 0, 20, 28)) words.push_back("word " + std::to_string(v));
    const auto counts = parallel::collect_reduce(
        words.begin(), words.end(), std::identity(), [](const std::string&) { return 1; },
        std::plus<>());
    EXPECT_EQ(counts.size(), 21U);
    EXPECT_EQ(counts[0].first, words[0]);
    int sum = 0;
    for (const auto& [word, count] : counts) {
      EXPECT_EQ(count, std::ranges::count(words, word));
      sum += count;
    }
    EXPECT_EQ(sum, 3000);
    // Values that can only be moved.
    const auto longest = parallel::collect_reduce(
        words, [](const std::string& w) { return w.size(); },
        [](const std::string& w) { return std::make_unique<std::string>(w); },
        [](std::unique_ptr<std::string> a, std::unique_ptr<std::string> b) {
          return *a < *b ? std::move(b) : std::move(a);
        });
    EXPECT_EQ(longest.size(), 2U);
  });
}

TEST_P(Algorithms, GroupByListsTheElementsInTheirOrder) {
  run([] {
    const std::vector<int> x = random_ints(30'000, 0, 1'000'000, 29);
    const auto groups = parallel::group_by(x, [](int v) { return v % 100; });
    ASSERT_EQ(groups.size(), 100U);
    for (const auto& group : groups) {
      std::vector<int> expected;
      std::ranges::copy_if(x, std::back_inserter(expected),
                           [&group](int v) { return v % 100 == group.first; });
      EXPECT_EQ(group.second, expected);
    }
    EXPECT_EQ(parallel::group_by(x.begin(), x.end(), [](int) { return 0; }).front().second, x);
  });
}

}  // namespace
}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
// The search for cuts, without places: compared with a sort of all elements.
#include <apgas/places/cut_search.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

namespace {

using apgas::base::random_engine;
using apgas::remote::cut_search;
using apgas::remote::interval;
using apgas::remote::most_samples;
using apgas::remote::sample;
using apgas::remote::sample_count;
using apgas::remote::sample_position;

using portions = std::vector<std::vector<int>>;

std::vector<std::size_t> sizes_of(const portions& all) {
  std::vector<std::size_t> sizes;
  for (const auto& each : all) sizes.push_back(each.size());
  return sizes;
}

std::vector<sample<int>> samples_of(const cut_search& search, const portions& all) {
  std::vector<sample<int>> samples;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const interval& from = search.intervals()[p];
    const std::size_t n = sample_count(from, most_samples(all.size()));
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t at = sample_position(from, k, n);
      samples.push_back({all[p][at], p, at});
    }
  }
  std::ranges::stable_sort(samples, {}, &sample<int>::value);
  return samples;
}

// How many elements of each portion are among the `rank` least of all.
std::vector<std::size_t> expected(std::size_t rank, const portions& all) {
  std::vector<std::tuple<int, std::size_t, std::size_t>> sorted;
  for (std::size_t p = 0; p < all.size(); ++p) {
    for (std::size_t k = 0; k < all[p].size(); ++k) sorted.emplace_back(all[p][k], p, k);
  }
  std::ranges::sort(sorted);
  std::vector<std::size_t> before(all.size());
  for (std::size_t i = 0; i < rank; ++i) ++before[std::get<1>(sorted[i])];
  return before;
}

// Returns the number of rounds.
int expect_cut(std::size_t rank, const portions& all) {
  cut_search search(rank, sizes_of(all));
  int rounds = 0;
  for (; !search.found(); ++rounds) {
    if (!search.narrow(samples_of(search, all))) {
      ADD_FAILURE() << "not narrowed";
      return rounds;
    }
  }
  const std::vector<std::size_t> wanted = expected(rank, all);
  for (std::size_t p = 0; p < all.size(); ++p) {
    EXPECT_EQ(search.intervals()[p].low, wanted[p]);
    EXPECT_EQ(search.intervals()[p].size(), 0U);
  }
  return rounds;
}

portions random_portions(random_engine& random) {
  portions all(1 + random.below(9));
  const std::uint32_t distinct = 1 + random.below(random.below(2) == 0 ? 4 : 5000);
  for (auto& each : all) {
    each.resize(random.below(random.below(2) == 0 ? 5 : 700));
    for (int& x : each) x = static_cast<int>(random.below(distinct));
    std::ranges::sort(each);
  }
  return all;
}

TEST(cut_search, finds_every_cut) {
  random_engine random(7);
  for (int k = 0; k < 300; ++k) {
    const portions all = random_portions(random);
    const std::vector<std::size_t> sizes = sizes_of(all);
    const std::size_t n = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    for (const std::size_t rank : {std::size_t{0}, n / 3, n / 2, n - n / 5, n}) {
      expect_cut(rank, all);
    }
  }
}

TEST(cut_search, needs_few_rounds) {
  random_engine random(11);
  portions all(5);
  for (auto& each : all) {
    each.resize(40'000);
    for (int& x : each) x = static_cast<int>(random.below(1'000'000));
    std::ranges::sort(each);
  }
  EXPECT_LE(expect_cut(100'000, all), 5);
}

TEST(cut_search, narrows_with_more_portions_than_elements_in_each) {
  random_engine random(13);
  portions all(100);
  for (auto& each : all) {
    each.resize(random.below(4));
    for (int& x : each) x = static_cast<int>(random.below(20));
    std::ranges::sort(each);
  }
  const std::vector<std::size_t> sizes = sizes_of(all);
  const std::size_t n = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  for (std::size_t rank = 0; rank <= n; ++rank) expect_cut(rank, all);
}

TEST(cut_search, ends_if_the_order_contradicts_itself) {
  random_engine random(17);
  for (int k = 0; k < 200; ++k) {
    const std::vector<std::size_t> sizes{300, 200, 500};
    cut_search search(400, sizes);
    for (int round = 0; !search.found(); ++round) {
      ASSERT_LT(round, 1000);
      std::vector<sample<int>> samples = samples_of(
          search, {std::vector<int>(300, 0), std::vector<int>(200, 0), std::vector<int>(500, 0)});
      for (std::size_t i = samples.size(); i > 1; --i) {
        std::swap(samples[i - 1], samples[random.below(static_cast<std::uint32_t>(i))]);
      }
      if (!search.narrow(samples)) break;
    }
  }
}

}  // namespace

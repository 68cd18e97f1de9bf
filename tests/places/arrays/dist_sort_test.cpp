// SPDX-License-Identifier: Apache-2.0
// The sort of arrays over places, compared with std::sort. APGAS_TEST_SEED=n runs one random array.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "arrays/array_shapes.hpp"

namespace {

using apgas::dist_array;
using apgas::distribution;
using test::for_shapes;

namespace parallel = apgas::parallel;

// A key, and the index at which the element was at first.
struct record {
  int key = 0;
  unsigned index = 0;
  bool operator==(const record&) const = default;
};
constexpr auto by_key = [](const record& x, const record& y) { return x.key < y.key; };
constexpr auto by_all = [](const record& x, const record& y) {
  return x.key != y.key ? x.key < y.key : x.index < y.index;
};

// Sorts an array of these keys and expects that it is sorted and has the same elements.
void expect_sorted(const std::vector<int>& keys, distribution d) {
  const dist_array<record> a(keys.size(), d);
  std::vector<record> model(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) model[i] = {keys[i], static_cast<unsigned>(i)};
  a.scatter(model);
  parallel::sort(a, by_key);
  std::vector<record> sorted = a.gather();
  EXPECT_TRUE(std::ranges::is_sorted(sorted, by_key));
  std::ranges::sort(sorted, by_all);
  std::ranges::sort(model, by_all);
  EXPECT_EQ(sorted, model);
  a.destroy();
}

TEST(dist_sort, sorts_arrays_of_all_shapes) {
  for_shapes([](std::size_t n, distribution d) {
    std::vector<int> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<int>(i * 7919 % 101);
    expect_sorted(keys, d);
    std::ranges::sort(keys);
    expect_sorted(keys, d);
    std::ranges::reverse(keys);
    expect_sorted(keys, d);
    expect_sorted(std::vector<int>(n, 7), d);
    std::ranges::fill(keys, 3);
    if (n > 0) keys.front() = 4;
    expect_sorted(keys, d);
  });
}

TEST(dist_sort, sorts_numbers_in_the_given_order) {
  for_shapes([](std::size_t n, distribution d) {
    const auto value = [](std::size_t i) { return std::sin(static_cast<double>(i * i)); };
    const dist_array<double> a(n, d, value);
    std::vector<double> model = a.gather();
    parallel::sort(a);
    std::ranges::sort(model);
    EXPECT_EQ(a.gather(), model);
    parallel::sort(a, [sign = -1.0](double x, double y) { return sign * x < sign * y; });
    std::ranges::reverse(model);
    EXPECT_EQ(a.gather(), model);
    a.destroy();
  });
}

TEST(dist_sort, sorts_random_arrays) {
  const unsigned long fixed = test::number_from_environment("APGAS_TEST_SEED", 0);
  for (int k = 0; k < (fixed != 0 ? 1 : 40 / test::slower); ++k) {
    const std::uint64_t seed = test::random_seed();
    apgas::base::random_engine random(seed);
    const distribution d = random.below(2) == 0 ? distribution::block()
                                                : distribution::block_cyclic(1 + random.below(30));
    std::vector<int> keys(random.below(random.below(2) == 0 ? 300 : 20'000));
    const std::uint32_t distinct = 1 + random.below(random.below(2) == 0 ? 5 : 100'000);
    for (int& key : keys) key = static_cast<int>(random.below(distinct));
    if (random.below(3) == 0) std::ranges::sort(keys);
    expect_sorted(keys, d);
    if (HasFailure()) break;
  }
}

TEST(dist_sort, sorts_from_any_place_over_any_group) {
  const std::size_t places = apgas::places().size();
  std::vector<apgas::place> backwards;
  for (std::size_t p = places; p-- > places / 3;) {
    backwards.emplace_back(static_cast<int>(p));
  }
  const apgas::place_group group(backwards);
  apgas::at(
      group[group.size() / 2],
      [](const apgas::place_group& of) {
        const dist_array<int> a(1001, distribution::block(),
                                [](std::size_t i) { return static_cast<int>(i * 7919 % 997); },
                                {.group = of});
        parallel::sort(a);
        test::check(std::ranges::is_sorted(a.gather()));
        a.destroy();
      },
      group);
}

// ---- errors

struct refusal {
  int place;  // the place at which comparisons fail; -1: every place
  bool operator()(const record& x, const record& y) const {
    if (apgas::here().id() == place || place < 0) throw std::domain_error("no");
    return x.key < y.key;
  }
};

// Fails from its n-th comparison at this place on.
struct late_refusal {
  std::int64_t after;
  static inline std::atomic<std::int64_t> comparisons{0};
  bool operator()(const record& x, const record& y) const {
    if (comparisons.fetch_add(1) >= after) throw std::domain_error("no");
    return x.key < y.key;
  }
};

template <class Comp>
bool keeps_all_elements(const dist_array<record>& a, Comp comp) {
  std::vector<record> model = a.gather();
  bool thrown = false;
  try {
    parallel::sort(a, comp);
  } catch (const apgas::multiple_exceptions& all) {
    thrown = true;
    for (const apgas::task_exception& each : all) {
      EXPECT_THROW(std::rethrow_exception(each), std::domain_error);
    }
  }
  std::vector<record> left = a.gather();
  std::ranges::sort(model, by_all);
  std::ranges::sort(left, by_all);
  EXPECT_EQ(left, model);
  return thrown;
}

dist_array<record> shuffled(std::size_t n, distribution d) {
  return {n, d, [](std::size_t i) {
            return record{static_cast<int>(i * 7919 % 1009), static_cast<unsigned>(i)};
          }};
}

TEST(dist_sort, loses_no_element_if_the_order_throws) {
  for (const distribution d :
       {distribution::block(), distribution::block_cyclic(4), distribution::replicated()}) {
    const auto a = shuffled(600, d);
    EXPECT_TRUE(keeps_all_elements(a, refusal{-1}));
    EXPECT_TRUE(keeps_all_elements(a, refusal{test::last().id()}));
    a.destroy();
  }
}

// The failure comes in another step of the sort each time.
TEST(dist_sort, loses_no_element_if_the_order_throws_late) {
  bool thrown = true;
  for (std::int64_t after = 10; thrown && after < 100'000; after += after / 4) {
    const auto a = shuffled(700, distribution::block());
    for (const apgas::place p : apgas::places()) {
      apgas::at(p, [] { late_refusal::comparisons = 0; });
    }
    thrown = keeps_all_elements(a, late_refusal{after});
    a.destroy();
  }
  EXPECT_FALSE(thrown);
}

TEST(dist_sort, refuses_stale_arrays_and_atomic_sections) {
  const dist_array<int> a(10, distribution::block());
  apgas::atomic([&] { EXPECT_THROW(parallel::sort(a), apgas::illegal_operation); });
  a.destroy();
  EXPECT_THROW(parallel::sort(a), apgas::illegal_operation);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The algorithms of apgas::parallel over arrays that return values or scan, compared with those of
// std over a vector of the same elements: all distributions, arrays that are empty or have fewer
// elements than there are places, and errors.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "arrays/array_shapes.hpp"

namespace {

using apgas::dist_array;
using apgas::distribution;
using test::for_shapes;

namespace parallel = apgas::parallel;

constexpr auto value_at = [](std::size_t i) { return static_cast<long>(i * 7919 % 101); };

std::vector<long> model_of(std::size_t n) {
  std::vector<long> model(n);
  for (std::size_t i = 0; i < n; ++i) model[i] = value_at(i);
  return model;
}

TEST(dist_algorithms, reduce_and_transform_reduce) {
  for_shapes([](std::size_t n, distribution d) {
    const std::vector<long> model = model_of(n);
    const dist_array<long> a(n, d, value_at);
    EXPECT_EQ(parallel::reduce(a), std::reduce(model.begin(), model.end()));
    EXPECT_EQ(parallel::reduce(a, 5L), std::reduce(model.begin(), model.end(), 5L));
    EXPECT_EQ(parallel::reduce(a, 1L, std::plus<>()), 1 + parallel::reduce(a));
    const auto scaled = [k = 3L](long x) { return k * x; };
    EXPECT_EQ(parallel::transform_reduce(a, 2L, std::plus<>(), scaled),
              std::transform_reduce(model.begin(), model.end(), 2L, std::plus<>(), scaled));
    const dist_array<int> b(n, d, [](std::size_t i) { return static_cast<int>(i % 13); });
    const std::vector<int> other = b.gather();
    EXPECT_EQ(parallel::transform_reduce(a, b, 1L),
              std::transform_reduce(model.begin(), model.end(), other.begin(), 1L));
    EXPECT_EQ(parallel::transform_reduce(
                  a, b, 0L, [](long x, long y) { return x > y ? x : y; }, std::minus<>()),
              std::transform_reduce(
                  model.begin(), model.end(), other.begin(), 0L,
                  [](long x, long y) { return x > y ? x : y; }, std::minus<>()));
    a.destroy();
    b.destroy();
  });
}

// An operation that is associative but not commutative: composition of x -> f * x + s.
struct affine {
  unsigned factor = 1;
  unsigned summand = 0;
  bool operator==(const affine&) const = default;
};
constexpr auto compose = [](const affine& f, const affine& g) {
  return affine{f.factor * g.factor, g.factor * f.summand + g.summand};
};
constexpr auto affine_at = [](std::size_t i) {
  return affine{static_cast<unsigned>(2 * i + 1), static_cast<unsigned>(i * i + 3)};
};

TEST(dist_algorithms, reduce_keeps_the_order_of_blocks) {
  for (const std::size_t n : test::sizes()) {
    const dist_array<affine> a(n, distribution::block(), affine_at);
    const std::vector<affine> model = a.gather();
    EXPECT_EQ(parallel::reduce(a, affine{2, 5}, compose),
              std::accumulate(model.begin(), model.end(), affine{2, 5}, compose));
    a.destroy();
  }
}

TEST(dist_algorithms, min_element_and_max_element) {
  for_shapes([](std::size_t n, distribution d) {
    for (const std::size_t distinct : {1U, 2U, 7U, 1000U}) {
      const auto value = [distinct](std::size_t i) {
        return static_cast<short>(i * 7919 % 101 % distinct);
      };
      const dist_array<short> a(n, d, value);
      const std::vector<short> model = a.gather();
      const auto index = [&](auto found) {
        return static_cast<std::size_t>(found - model.begin());
      };
      EXPECT_EQ(parallel::min_element(a), index(std::ranges::min_element(model)));
      EXPECT_EQ(parallel::max_element(a), index(std::ranges::max_element(model)));
      EXPECT_EQ(parallel::min_element(a, std::greater<>()),
                index(std::ranges::min_element(model, std::greater<>())));
      EXPECT_EQ(parallel::max_element(a, std::greater<>()),
                index(std::ranges::max_element(model, std::greater<>())));
      a.destroy();
    }
  });
}

TEST(dist_algorithms, histogram) {
  for_shapes([](std::size_t n, distribution d) {
    const dist_array<long> a(n, d, value_at);
    const auto key = [](long x) { return static_cast<unsigned>(x % 10); };
    std::vector<std::size_t> wanted(12);
    for (const long x : model_of(n)) ++wanted[key(x)];
    EXPECT_EQ(parallel::histogram(a, 12, key), wanted);
    EXPECT_EQ(parallel::histogram(a, 101).size(), 101U);
    a.destroy();
  });
}

// ---- scans

TEST(dist_algorithms, inclusive_scan) {
  for_shapes([](std::size_t n, distribution d) {
    const std::vector<affine> model = [&] {
      std::vector<affine> all(n);
      for (std::size_t i = 0; i < n; ++i) all[i] = affine_at(i);
      return all;
    }();
    const dist_array<affine> a(n, d, affine_at);
    const dist_array<affine> out(n, d);
    std::vector<affine> wanted(n);
    std::inclusive_scan(model.begin(), model.end(), wanted.begin(), compose);
    parallel::inclusive_scan(a, out, compose);
    EXPECT_EQ(out.gather(), wanted);
    std::inclusive_scan(model.begin(), model.end(), wanted.begin(), compose, affine{3, 1});
    parallel::inclusive_scan(a, out, compose, affine{3, 1});
    EXPECT_EQ(out.gather(), wanted);
    parallel::inclusive_scan(a, a, compose, affine{3, 1});
    EXPECT_EQ(a.gather(), wanted);
    a.destroy();
    out.destroy();
  });
}

TEST(dist_algorithms, exclusive_scan) {
  for_shapes([](std::size_t n, distribution d) {
    const std::vector<long> model = model_of(n);
    const dist_array<long> a(n, d, value_at);
    const dist_array<double> out(n, d);
    std::vector<double> wanted(n);
    std::exclusive_scan(model.begin(), model.end(), wanted.begin(), 0.5);
    parallel::exclusive_scan(a, out, 0.5);
    EXPECT_EQ(out.gather(), wanted);
    std::vector<long> replaced(n);
    std::exclusive_scan(model.begin(), model.end(), replaced.begin(), 4L, std::bit_xor<>());
    parallel::exclusive_scan(a, a, 4L, std::bit_xor<>());
    EXPECT_EQ(a.gather(), replaced);
    a.destroy();
    out.destroy();
  });
}

TEST(dist_algorithms, scans_of_bool) {
  const dist_array<bool> a(100, distribution::cyclic(), [](std::size_t i) { return i > 40; });
  parallel::exclusive_scan(a, a, false, std::logical_or<>());
  const std::vector<bool> seen = a.gather();
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i > 41) << i;
  EXPECT_EQ(parallel::max_element(a), 42U);
  a.destroy();
}

// The sum of doubles depends on the order of the additions.
TEST(dist_algorithms, are_the_same_in_every_run) {
  const auto value = [](std::size_t i) { return 1.0 / static_cast<double>(3 * i + 1); };
  const dist_array<double> a(20'000, distribution::block(), value);
  const dist_array<double> out(20'000, distribution::block());
  const double sum = parallel::reduce(a);
  parallel::inclusive_scan(a, out);
  const std::vector<double> sums = out.gather();
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(parallel::reduce(a), sum);
    parallel::inclusive_scan(a, out);
    EXPECT_EQ(out.gather(), sums);
  }
  a.destroy();
  out.destroy();
}

// ---- callers and errors

TEST(dist_algorithms, are_called_at_any_place_of_any_group) {
  const apgas::place_group alone{test::last()};
  const apgas::place caller(apgas::num_places() / 2);
  apgas::at(caller, [] {
    const dist_array<long> a(50, distribution::block(), value_at);
    test::check(parallel::reduce(a) == a.reduce(0L, std::plus<>()));
    test::check(parallel::min_element(a) == 0);
    parallel::inclusive_scan(a, a);
    test::check(a.get(1) == value_at(0) + value_at(1));
    a.destroy();
  });
  const dist_array<long> there(20, distribution::block(), value_at, {.group = alone});
  apgas::at(test::last(), [there] { test::check(parallel::max_element(there) < 20); });
  if (test::last() != apgas::here()) {
    EXPECT_THROW(parallel::reduce(there), apgas::bad_place);
  }
  there.destroy();
}

TEST(dist_algorithms, refuse_arrays_of_different_distributions) {
  const dist_array<long> a(10, distribution::block());
  const auto refused = [&](const dist_array<long>& b) {
    const auto message = [&](auto call) { return test::message_of(call); };
    for (const std::string& text : {message([&] { parallel::transform_reduce(a, b, 0L); }),
                                    message([&] { parallel::inclusive_scan(a, b); }),
                                    message([&] { parallel::exclusive_scan(a, b, 0L); })}) {
      EXPECT_NE(text.find("different distributions, 10 elements in blocks"), std::string::npos)
          << text;
    }
    b.destroy();
  };
  refused(dist_array<long>(11, distribution::block()));
  refused(dist_array<long>(10, distribution::cyclic()));
  refused(dist_array<long>(10, distribution::block_cyclic(3)));
  refused(dist_array<long>(10, distribution::replicated()));
  if (apgas::num_places() > 1) {
    refused(
        dist_array<long>(10, distribution::block(), {.group = apgas::place_group{apgas::here()}}));
  }
  a.destroy();
}

TEST(dist_algorithms, refuse_stale_arrays_and_atomic_sections) {
  const dist_array<long> a(10, distribution::block());
  apgas::atomic([&] {
    EXPECT_THROW(parallel::reduce(a), apgas::illegal_operation);
    EXPECT_THROW(parallel::inclusive_scan(a, a), apgas::illegal_operation);
    EXPECT_THROW(parallel::min_element(a), apgas::illegal_operation);
    EXPECT_THROW(parallel::histogram(a, 3), apgas::illegal_operation);
  });
  a.destroy();
  EXPECT_THROW(parallel::reduce(a), apgas::illegal_operation);
  EXPECT_THROW(parallel::inclusive_scan(a, a), apgas::illegal_operation);
}

TEST(dist_algorithms, exceptions_of_functions_arrive_from_all_places) {
  const auto places = static_cast<std::size_t>(apgas::num_places());
  const dist_array<long> a(10 * places, distribution::block(), value_at);
  const auto bad = [](long) -> long { throw std::domain_error("no"); };
  const auto bad_op = [](long, long) -> long { throw std::domain_error("no"); };
  const auto bad_less = [](long, long) -> bool { throw std::domain_error("no"); };
  try {
    parallel::transform_reduce(a, 0L, std::plus<>(), bad);
    FAIL();
  } catch (const apgas::multiple_exceptions& all) {
    EXPECT_GE(all.size(), places);
    for (const apgas::task_exception& each : all) {
      EXPECT_THROW(std::rethrow_exception(each), std::domain_error);
    }
  }
  EXPECT_THROW(parallel::reduce(a, 0L, bad_op), apgas::multiple_exceptions);
  EXPECT_THROW(parallel::min_element(a, bad_less), apgas::multiple_exceptions);
  EXPECT_THROW(parallel::inclusive_scan(a, a, bad_op), apgas::multiple_exceptions);
  EXPECT_THROW(parallel::exclusive_scan(a, a, 0L, bad_op), apgas::multiple_exceptions);
  a.destroy();
}

TEST(dist_algorithms, histogram_refuses_numbers_of_no_bucket) {
  const dist_array<long> a(40, distribution::cyclic(),
                           [](std::size_t i) { return i < 39 ? 1 : 9; });
  try {
    parallel::histogram(a, 9);
    FAIL();
  } catch (const apgas::multiple_exceptions& all) {
    EXPECT_NE(std::string(all.what()).find("returned 9, but there are 9 buckets"),
              std::string::npos)
        << all.what();
  }
  a.destroy();
}

}  // namespace

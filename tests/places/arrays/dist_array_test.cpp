// SPDX-License-Identifier: Apache-2.0
// dist_array: where elements are, and all operations compared with a vector. APGAS_TEST_SEED=n runs
// one array, APGAS_TEST_ARRAYS=n that many.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"

namespace {

using apgas::dist_array;
using apgas::distribution;
using apgas::place;
using apgas::place_group;
using test::check;

static_assert(std::is_trivially_copyable_v<dist_array<double>> && sizeof(dist_array<int>) == 16);

std::vector<distribution> spreads() {
  return {distribution::block(), distribution::cyclic(), distribution::block_cyclic(3),
          distribution::replicated()};
}

constexpr auto square = [](std::size_t i) { return static_cast<long>(i * i); };

TEST(dist_array, has_each_element_at_one_place) {
  for (const distribution d : spreads()) {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 10U, 101U}) {
      const dist_array<long> a(n, d, square);
      EXPECT_EQ(a.size(), n);
      std::vector<int> times(n);
      for (const place p : apgas::places()) {
        const auto here = apgas::at(p, [a] {
          std::vector<std::size_t> indices;
          for (std::size_t k = 0; k < a.local().size(); ++k) {
            const std::size_t i = a.index_of(k);
            check(a.local()[k] == square(i) && &a[i] == &a.local()[k]);
            check(a.place_of(i) == apgas::here());
            check(indices.empty() || indices.back() < i);
            indices.push_back(i);
          }
          return indices;
        });
        for (const std::size_t i : here) ++times.at(i);
      }
      const bool replicated = d == distribution::replicated();
      EXPECT_EQ(times, std::vector<int>(n, replicated ? apgas::num_places() : 1));
      a.destroy();
    }
  }
}

TEST(dist_array, has_blocks_that_differ_by_at_most_one) {
  const dist_array<char> a(10, distribution::block());
  std::vector<std::size_t> sizes;
  for (const place p : apgas::places()) {
    sizes.push_back(apgas::at(p, [a] { return a.local().size(); }));
  }
  const auto [least, most] = std::ranges::minmax(sizes);
  EXPECT_LE(most - least, 1U);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), 10U);
  a.destroy();
}

// ---- compared with a vector

void work_on(const dist_array<long>& a, std::vector<long>& model,
             apgas::base::random_engine& random) {
  switch (random.below(6)) {
    case 0: {
      for (long& x : model) x = static_cast<long>(random.below(1000));
      a.scatter(model);
      break;
    }
    case 1: {
      if (model.empty()) break;
      const std::size_t i = random.below(static_cast<std::uint32_t>(model.size()));
      const place from(
          static_cast<int>(random.below(static_cast<std::uint32_t>(apgas::num_places()))));
      model[i] = static_cast<long>(random.below(1000));
      apgas::at(from, [a, i, x = model[i]] { a.put(i, x); });
      ASSERT_EQ(a.get(i), model[i]);
      break;
    }
    case 2:
      forall(a, [](std::size_t i, long& x) { x += static_cast<long>(i); });
      for (std::size_t i = 0; i < model.size(); ++i) model[i] += static_cast<long>(i);
      break;
    case 3:
      forall(a, [](long& x) { x = 3 * x + 1; });
      for (long& x : model) x = 3 * x + 1;
      break;
    case 4:
      ASSERT_EQ(a.reduce(0L, std::plus<>()), std::accumulate(model.begin(), model.end(), 0L));
      break;
    default:
      ASSERT_EQ(a.reduce(0L, std::plus<>(), [k = 2L](long x) { return k * x; }),
                2 * std::accumulate(model.begin(), model.end(), 0L));
  }
}

TEST(dist_array, agrees_with_a_vector) {
  const unsigned long fixed = test::number_from_environment("APGAS_TEST_SEED", 0);
  const unsigned long arrays =
      fixed != 0 ? 1 : test::number_from_environment("APGAS_TEST_ARRAYS", 60 / test::slower);
  for (unsigned long k = 0; k < arrays; ++k) {
    const std::uint64_t seed = test::random_seed();
    apgas::base::random_engine random(seed);
    const distribution d = random.below(2) == 0 ? spreads()[random.below(4)]
                                                : distribution::block_cyclic(1 + random.below(20));
    const dist_array<long> a(random.below(200), d);
    std::vector<long> model(a.size());
    for (int step = 0; step < 12; ++step) {
      work_on(a, model, random);
      ASSERT_EQ(a.gather(), model);
    }
    a.destroy();
  }
}

TEST(dist_array, is_made_and_used_from_any_place_over_any_group) {
  for (const place maker : apgas::places()) {
    apgas::at(maker, [] {
      const place_group alone{test::last()};
      const dist_array<long> a(20, distribution::block(), square, {.group = alone});
      apgas::at(test::last(), [a] {
        check(a.gather().size() == 20 && a.get(7) == 49 && a.place_of(3) == test::last());
      });
      if (apgas::here() != test::last()) {
        const std::string what = test::message_of([&] { a.local(); });
        check(what.find("a dist_array was used at place") != std::string::npos);
      }
      a.destroy();
    });
  }
}

// ---- halo

// Each element becomes the sum of itself and its neighbours, in steps of each place.
// Returns `elements`, or more if not every place would have `each` of them.
std::size_t at_least(std::size_t elements, std::size_t each) {
  return std::max(elements, each * static_cast<std::size_t>(apgas::num_places()));
}

TEST(dist_array, a_stencil_with_swap_halo_agrees_with_the_sequential_one) {
  const std::size_t n = at_least(30, 1);
  constexpr int steps = 15;
  const dist_array<long> even(n, distribution::block(), [](std::size_t i) { return square(i); },
                              {.halo = 1});
  const dist_array<long> odd(n, distribution::block(), {.halo = 1});
  apgas::finish([&] {
    for (const place p : even.group()) {
      apgas::async_at(p, [even, odd] {
        for (int step = 0; step < steps; ++step) {
          const auto& from = step % 2 == 0 ? even : odd;
          const auto& to = step % 2 == 0 ? odd : even;
          from.swap_halo();
          const long* const in = from.local().data();
          for (std::size_t k = 0; k < from.local().size(); ++k) {
            const long* const at = in + k;
            to.local()[k] = (at[-1] + at[0] + at[1]) % 1009;
          }
        }
      });
    }
  });
  std::vector<long> model(n + 2);
  for (std::size_t i = 0; i < n; ++i) model[i + 1] = square(i);
  for (int step = 0; step < steps; ++step) {
    std::vector<long> next(n + 2);
    for (std::size_t i = 1; i <= n; ++i) {
      next[i] = (model[i - 1] + model[i] + model[i + 1]) % 1009;
    }
    model = next;
  }
  EXPECT_EQ(odd.gather(), std::vector<long>(model.begin() + 1, model.end() - 1));
  even.destroy();
  odd.destroy();
}

TEST(dist_array, a_stencil_agrees_with_the_sequential_one) {
  constexpr std::size_t halo = 2;
  const std::size_t n = at_least(40, halo);
  const auto mean = [](auto at, std::ptrdiff_t k) {
    return at(k - 2) + 2 * at(k - 1) + 3 * at(k) + 5 * at(k + 1) + 7 * at(k + 2);
  };
  std::vector<long> model(n + 2 * halo);
  for (std::size_t i = 0; i < n; ++i) model[i + halo] = square(i) % 11;
  dist_array<long> from(n, distribution::block(), [](std::size_t i) { return square(i) % 11; },
                        {.halo = halo});
  dist_array<long> to(n, distribution::block(), {.halo = halo});
  for (int step = 0; step < 6; ++step) {
    from.exchange_halo();
    apgas::finish([&] {
      for (const place p : from.group()) {
        apgas::async_at(p, [from, to, mean] {
          check(from.before().size() == halo && from.behind().size() == halo);
          const long* const in = from.local().data();
          to.for_each_local([&](std::size_t i, long& x) {
            const auto k = static_cast<std::ptrdiff_t>(i - from.index_of(0));
            x = mean([in](std::ptrdiff_t j) { return in[j]; }, k) % 1009;
          });
        });
      }
    });
    std::vector<long> next = model;
    for (std::size_t i = halo; i < n + halo; ++i) {
      next[i] = mean([&](std::ptrdiff_t j) { return model[static_cast<std::size_t>(j)]; },
                     static_cast<std::ptrdiff_t>(i)) %
                1009;
    }
    model = next;
    std::swap(from, to);
    ASSERT_EQ(from.gather(), std::vector<long>(model.begin() + halo, model.end() - halo));
  }
  from.destroy();
  to.destroy();
}

// ---- errors

TEST(dist_array, rejects_stale_and_empty_handles) {
  const dist_array<int> a(5, distribution::block());
  const dist_array<int> copy = a;
  a.destroy();
  for (const place p : apgas::places()) {
    EXPECT_THROW(apgas::at(p, [copy] { return copy.size(); }), apgas::illegal_operation);
  }
  EXPECT_NE(test::message_of([&] { copy.local(); }).find("a stale dist_array was used"),
            std::string::npos);
  EXPECT_THROW(copy.destroy(), apgas::illegal_operation);
  EXPECT_NE(test::message_of([] { dist_array<int>().gather(); }).find("an empty dist_array"),
            std::string::npos);
  EXPECT_THROW(dist_array<int>().destroy(), apgas::illegal_operation);
}

TEST(dist_array, rejects_sizes_that_overflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t n : {most, most / 2, most / 8}) {
    const std::string what = test::message_of([n] { dist_array<long>(n, distribution::cyclic()); });
    EXPECT_NE(what.find("can be addressed"), std::string::npos) << what;
  }
  const std::string halo =
      test::message_of([] { dist_array<long>(10, distribution::block(), {.halo = most}); });
  EXPECT_NE(halo.find("use fewer places or a smaller halo"), std::string::npos) << halo;
}

TEST(dist_array, rejects_misuse) {
  const dist_array<int> a(10, distribution::block());
  EXPECT_NE(test::message_of([&] { a[10] = 1; }).find("element 10 of a dist_array of 10"),
            std::string::npos);
  EXPECT_THROW(a.place_of(10), apgas::illegal_operation);
  EXPECT_THROW(a.get(10), apgas::illegal_operation);
  EXPECT_THROW(a.put(10, 1), apgas::illegal_operation);
  if (apgas::num_places() > 1) {
    EXPECT_NE(test::message_of([&] { a[9] = 1; }).find("use get() and put()"), std::string::npos);
    EXPECT_THROW(a[9], apgas::bad_place);
  }
  EXPECT_NE(test::message_of([&] { a.scatter(std::vector<int>(11)); }).find("wanted 10, found 11"),
            std::string::npos);
  a.destroy();
  const auto no_blocks = [] { dist_array<int>(10, distribution::cyclic(), {.halo = 1}); };
  EXPECT_NE(test::message_of(no_blocks).find("only blocks have neighbours"), std::string::npos);
  const auto nowhere = [] { dist_array<int>(10, distribution::block(), {.group = place_group()}); };
  EXPECT_NE(test::message_of(nowhere).find("empty place_group"), std::string::npos);
  EXPECT_NE(test::message_of([] { distribution::block_cyclic(0); }).find("at least one element"),
            std::string::npos);
}

TEST(dist_array, exceptions_of_bodies_arrive) {
  const auto bad = [](std::size_t i) -> int {
    if (i == 9) throw std::domain_error("no");
    return 0;
  };
  EXPECT_THROW(dist_array<int>(10, distribution::cyclic(), bad), apgas::multiple_exceptions);
  const dist_array<int> a(10, distribution::cyclic());
  const auto body = [](std::size_t i, int&) {
    if (i == 9) throw std::domain_error("no");
  };
  EXPECT_THROW(forall(a, body), apgas::multiple_exceptions);
  a.destroy();
}

}  // namespace

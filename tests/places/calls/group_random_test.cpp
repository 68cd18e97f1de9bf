// SPDX-License-Identifier: Apache-2.0
// Constructs that work on a group, with random groups: some of the places, in any order, with this
// place or without it.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"
#include "team_members.hpp"

namespace {

using apgas::at;
using apgas::dist_array;
using apgas::dist_grid;
using apgas::distribution;
using apgas::place;
using apgas::place_group;
using test::check;

std::vector<long> counted_from(long first, std::size_t n) {
  std::vector<long> all(n);
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST(group_random, async_at_runs_once_at_each_member) {
  apgas::base::random_engine random(test::random_seed());
  const auto times = apgas::place_local<std::atomic<int>>::make(apgas::places(), [] { return 0; });
  std::vector<int> expected(static_cast<std::size_t>(apgas::num_places()));
  for (int round = 0; round < 30; ++round) {
    const place_group group = test::random_group(random);
    const place from(static_cast<int>(random.below(static_cast<std::uint32_t>(expected.size()))));
    at(
        from,
        [times](const place_group& to) {
          apgas::finish([&] { apgas::async_at(to, [times](int more) { *times += more; }, 1); });
        },
        group);
    for (const place p : group) ++expected[static_cast<std::size_t>(p.id())];
    for (const place p : apgas::places()) {
      ASSERT_EQ(at(p, [times] { return times->load(); }),
                expected[static_cast<std::size_t>(p.id())]);
    }
  }
  times.destroy();
}

// All operations that one task performs on an array, at a member.
void use_array(const dist_array<long>& a, std::uint64_t seed) {
  apgas::base::random_engine random(seed);
  const std::size_t n = a.size();
  check(a.gather() == counted_from(0, n));
  for (std::size_t k = 0; k < n && k < 5; ++k) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(n));
    check(a.get(i) == static_cast<long>(i));
    a.put(i, -1);
    check(a.get(i) == -1);
    a.put(i, static_cast<long>(i));
  }
  std::vector<long> values = counted_from(7, n);
  a.scatter(values);
  check(a.gather() == values);
  forall(a, [](long& x) { ++x; });
  check(a.reduce(0L, std::plus<>()) ==
        std::accumulate(values.begin(), values.end(), static_cast<long>(n)));
}

TEST(group_random, dist_array) {
  apgas::base::random_engine random(test::random_seed());
  for (int round = 0; round < 20; ++round) {
    const place_group group = test::random_group(random);
    const std::size_t n = random.below(100);
    const distribution spread = random.below(2) == 0
                                    ? distribution::block()
                                    : distribution::block_cyclic(1 + random.below(4));
    const dist_array<long> a(n, spread, [](std::size_t i) { return static_cast<long>(i); },
                             {.group = group});
    for (const place p : test::some_places()) {
      at(
          p,
          [a](std::uint64_t seed, bool member) {
            if (member) {
              for (std::size_t i = 0; i < a.size(); ++i) check(a.group().contains(a.place_of(i)));
              use_array(a, seed);
              forall(a, [](std::size_t i, long& x) { x = static_cast<long>(i); });
            } else {  // called by one task at a place of the group
              const std::vector<long> values(3);
              check(test::message_of([&] { a.gather(); }).find("not in its group") !=
                    std::string::npos);
              check(test::message_of([&] { a.scatter(values); }) != "nothing was thrown");
              check(test::message_of([&] { static_cast<void>(a.get(0)); }) != "nothing was thrown");
            }
          },
          random(), group.contains(p));
    }
    a.destroy();
  }
}

TEST(group_random, dist_grid) {
  apgas::base::random_engine random(test::random_seed());
  for (int round = 0; round < 20; ++round) {
    const place_group group = test::random_group(random);
    const std::size_t rows = 1 + random.below(20);
    const std::size_t columns = 1 + random.below(20);
    const dist_grid<long> g(rows, columns, {.group = group});
    const std::vector<long> values =
        counted_from(static_cast<long>(random.below(1000)), rows * columns);
    at(
        group[random.below(static_cast<std::uint32_t>(group.size()))],
        [g](const std::vector<long>& all) {
          g.scatter(all);
          check(g.gather() == all);
          for (std::size_t i = 0; i < all.size(); i += 7) {
            const std::size_t r = i / g.columns();
            const std::size_t c = i % g.columns();
            check(g.get(r, c) == all[i] && g.group().contains(g.place_of(r, c)));
            g.put(r, c, -1);
            check(g.get(r, c) == -1);
            g.put(r, c, all[i]);
          }
          check(g.reduce(0L, std::plus<>()) == std::accumulate(all.begin(), all.end(), 0L));
          check(test::message_of([&] {
                  g.scatter(std::span(all).first(all.size() - 1));
                }).find("as many values") != std::string::npos);
          check(test::message_of([&] { g.get(g.rows(), 0); }) != "nothing was thrown");
        },
        values);
    for (const place p : test::some_places()) {
      if (group.contains(p)) continue;
      at(p, [g] {
        check(test::message_of([g] { g.gather(); }).find("not in its group") != std::string::npos);
      });
    }
    g.destroy();
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Random accesses to memory of all places, by tasks at all places. Each task compares its own
// allocations with a model; all tasks add to shared sums. APGAS_TEST_SEED=n runs one seed,
// APGAS_TEST_ROUNDS=n that many.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"

namespace {

using apgas::global_ptr;
using apgas::place;
using random_engine = apgas::base::random_engine;
using word = std::uint32_t;

constexpr std::uint32_t longest = 60'000;

struct modelled {
  global_ptr<word> block;
  std::vector<word> values;
};

place any_place(random_engine& random) {
  return place(static_cast<int>(random.below(static_cast<std::uint32_t>(apgas::num_places()))));
}

modelled new_block(random_engine& random) {
  const std::uint32_t n = 1 + random.below(random.below(4) == 0 ? longest : 50);
  return {apgas::allocate<word>(any_place(random), n), std::vector<word>(n)};
}

// A range of elements in an allocation.
struct part {
  std::uint32_t begin;
  std::uint32_t count;
};
part any_part(random_engine& random, const modelled& m) {
  const auto n = static_cast<std::uint32_t>(m.values.size());
  const std::uint32_t begin = random.below(n);
  return {begin, random.below(n - begin + 1)};
}

std::vector<word> any_values(random_engine& random, std::uint32_t n) {
  std::vector<word> values(n);
  std::ranges::generate(values, [&] { return static_cast<word>(random()); });
  return values;
}

void put_part(random_engine& random, modelled& m) {
  const part p = any_part(random, m);
  const std::vector<word> values = any_values(random, p.count);
  switch (random.below(4)) {
    case 0:
      apgas::copy(values, m.block + p.begin);
      break;
    case 1:
      apgas::finish([&] { apgas::async_copy(values, m.block + p.begin); });
      break;
    case 2:
      apgas::copy_future(values, m.block + p.begin).get();
      break;
    default:
      apgas::finish([&] {
        for (std::uint32_t i = 0; i < p.count; ++i) {
          apgas::async_rput(values[i], m.block + (p.begin + i));
        }
      });
  }
  std::ranges::copy(values, m.values.begin() + p.begin);
}

void look_at_part(random_engine& random, const modelled& m) {
  const part p = any_part(random, m);
  std::vector<word> seen(p.count);
  if (random.below(2) == 0) {
    apgas::copy(m.block + p.begin, seen);
  } else {
    apgas::finish([&] { apgas::async_copy(m.block + p.begin, seen); });
  }
  test::check(std::ranges::equal(seen, std::span(m.values).subspan(p.begin, p.count)));
  if (p.count != 0) test::check(apgas::rget(m.block + p.begin) == m.values[p.begin]);
}

void change_one(random_engine& random, modelled& m) {
  const std::uint32_t i = random.below(static_cast<std::uint32_t>(m.values.size()));
  const global_ptr<word> at = m.block + i;
  const word x = static_cast<word>(random());
  word& value = m.values[i];
  word expected = random.below(2) == 0 ? value : x;
  const word before = value;
  switch (random.below(5)) {
    case 0:
      test::check(apgas::fetch_add(at, x) == value);
      value += x;
      break;
    case 1:
      test::check(apgas::fetch_xor(at, x) == value);
      value ^= x;
      break;
    case 2:
      test::check(apgas::atomic_exchange(at, x) == value);
      value = x;
      break;
    case 3:
      if (apgas::compare_exchange(at, expected, x)) value = x;
      test::check(expected == before);
      break;
    default:
      apgas::rput(x, at);
      value = x;
  }
}

void copy_between(random_engine& random, modelled& from, modelled& to) {
  const auto n = static_cast<std::uint32_t>(std::min(from.values.size(), to.values.size()));
  const std::uint32_t count = random.below(n + 1);
  apgas::copy(from.block, to.block + (n - count), count);
  std::copy_n(from.values.begin(), count, to.values.begin() + (n - count));
}

// The program of one task. No other task uses its allocations.
void live(std::uint64_t seed, int steps, global_ptr<long> sums) {
  random_engine random(seed);
  std::vector<modelled> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(new_block(random));
  for (int i = 0; i < steps; ++i) {
    modelled& m = blocks[random.below(3)];
    switch (random.below(6)) {
      case 0:
        put_part(random, m);
        break;
      case 1:
        copy_between(random, blocks[0], blocks[1 + random.below(2)]);
        break;
      case 2:
        apgas::deallocate(m.block);
        m = new_block(random);
        break;
      case 3:
        apgas::async_add(sums + random.below(8), 1);
        break;
      case 4:
        look_at_part(random, m);
        break;
      default:
        change_one(random, m);
    }
  }
  for (const modelled& m : blocks) {
    std::vector<word> seen(m.values.size());
    apgas::copy(m.block, seen);
    test::check(seen == m.values);
    apgas::deallocate(m.block);
  }
}

// How much the same program adds to the sums.
long additions(std::uint64_t seed, int steps, global_ptr<long> sums) {
  std::vector<long> before(8);
  std::vector<long> after(8);
  apgas::copy(sums, before);
  apgas::finish([=] { live(seed, steps, sums); });
  apgas::copy(sums, after);
  return std::accumulate(after.begin(), after.end(), 0L) -
         std::accumulate(before.begin(), before.end(), 0L);
}

TEST(one_sided_random, agrees_with_the_models) {
  const unsigned long fixed = test::number_from_environment("APGAS_TEST_SEED", 0);
  const unsigned long rounds =
      fixed != 0 ? 1 : test::number_from_environment("APGAS_TEST_ROUNDS", 10 / test::slower);
  constexpr int steps = 60;
  constexpr unsigned tasks = 4;
  for (unsigned long round = 0; round < rounds; ++round) {
    const std::uint64_t seed = test::random_seed();
    const auto sums = apgas::allocate<long>(test::last(), 8);
    const auto alone = apgas::allocate<long>(place(), 8);
    apgas::finish([=] {
      for (place p : apgas::places()) {
        for (unsigned t = 0; t < tasks; ++t) {
          apgas::async_at(p, [=] { live(seed + 1000 * t, steps, sums); });
        }
      }
    });
    long expected = 0;
    for (unsigned t = 0; t < tasks; ++t) expected += additions(seed + 1000 * t, steps, alone);
    std::vector<long> all(8);
    apgas::copy(sums, all);
    EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0L), expected * apgas::num_places());
    apgas::deallocate(sums);
    apgas::deallocate(alone);
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Remote atomics: each operation on each type, and all places on one word at the same time.
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::allocate;
using apgas::deallocate;
using apgas::global_ptr;
using apgas::place;

template <class T>
class remote_atomics : public testing::Test {};
using words = testing::Types<char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, int,
                             unsigned, long, unsigned long long, float, double>;
TYPED_TEST_SUITE(remote_atomics, words);

TYPED_TEST(remote_atomics, do_what_they_say) {
  using word = TypeParam;
  for (place p : apgas::places()) {
    const auto block = allocate<word>(p, 3);
    const auto w = block + 1;
    apgas::atomic_store(w, 40);
    EXPECT_EQ(apgas::atomic_load(w), word{40});
    EXPECT_EQ(apgas::fetch_add(w, 5), word{40});
    EXPECT_EQ(apgas::fetch_sub(w, 3), word{45});
    EXPECT_EQ(apgas::atomic_exchange(w, 7), word{42});
    word expected = 8;
    EXPECT_FALSE(apgas::compare_exchange(w, expected, 9));
    EXPECT_EQ(expected, word{7});
    EXPECT_TRUE(apgas::compare_exchange(w, expected, 9));
    EXPECT_EQ(expected, word{7});
    apgas::finish([w] { apgas::async_add(w, 2); });
    EXPECT_EQ(apgas::rget(w), word{11});
    if constexpr (std::is_integral_v<word>) {
      EXPECT_EQ(apgas::fetch_or(w, 4), word{11});
      EXPECT_EQ(apgas::fetch_and(w, 14), word{15});
      EXPECT_EQ(apgas::fetch_xor(w, 3), word{14});
      apgas::finish([w] { apgas::async_xor(w, 8); });
      EXPECT_EQ(apgas::rget(w), word{5});
      apgas::atomic_store(w, std::numeric_limits<word>::max());
      apgas::fetch_add(w, 1);
      EXPECT_EQ(apgas::rget(w), std::numeric_limits<word>::min());
      apgas::fetch_sub(w, 1);
      EXPECT_EQ(apgas::rget(w), std::numeric_limits<word>::max());
    }
    EXPECT_EQ(apgas::rget(block), word{});
    EXPECT_EQ(apgas::rget(block + 2), word{});
    deallocate(block);
  }
}

TEST(remote_atomics, are_atomic_together_with_atomic_ref_at_the_home) {
  static constexpr int tasks = 4;
  static constexpr int rounds = 2000 / test::slower;
  for (place p : test::some_places()) {
    const auto sums = allocate<long>(p, 2);
    const auto real = allocate<double>(p, 1);
    apgas::finish([=] {
      for (place q : apgas::places()) {
        for (int t = 0; t < tasks; ++t) {
          apgas::async_at(q, [=] {
            for (int i = 0; i < rounds; ++i) {
              apgas::fetch_add(sums, 1);
              apgas::fetch_add(real, 0.5);
              long old = apgas::atomic_load(sums + 1);
              while (!apgas::compare_exchange(sums + 1, old, old + 1)) apgas::yield();
            }
          });
        }
      }
      apgas::async_at(p, [sums] {
        for (int i = 0; i < rounds; ++i) std::atomic_ref(*sums.local()).fetch_add(1);
      });
    });
    const long all = long{rounds} * tasks * apgas::num_places();
    EXPECT_EQ(apgas::rget(sums), all + rounds);
    EXPECT_EQ(apgas::rget(sums + 1), all);
    EXPECT_EQ(apgas::rget(real), 0.5 * static_cast<double>(all));
    deallocate(sums);
    deallocate(real);
  }
}

TEST(remote_atomics, publish_earlier_writes) {
  static constexpr int rounds = 200 / test::slower;
  const auto data = allocate<int>(place(), 100);
  const auto flag = allocate<int>(place(), 1);
  apgas::finish([=] {
    apgas::async_at(test::last(), [=] {
      for (int i = 1; i <= rounds; ++i) {
        while (apgas::atomic_load(flag) != 2 * i - 2) apgas::yield();
        apgas::copy(std::vector<int>(100, i), data);
        apgas::atomic_store(flag, 2 * i - 1);
      }
    });
    for (int i = 1; i <= rounds; ++i) {
      while (apgas::atomic_load(flag) != 2 * i - 1) apgas::yield();
      for (int k = 0; k < 100; ++k) ASSERT_EQ(data.local()[k], i);
      apgas::atomic_store(flag, 2 * i);
    }
  });
  deallocate(data);
  deallocate(flag);
}

TEST(remote_atomics, many_are_in_flight_at_a_time) {
  static constexpr int updates = 50'000 / test::slower;
  const auto sums = allocate<std::uint64_t>(test::last(), 64);
  apgas::finish([=] {
    for (int i = 0; i < updates; ++i) apgas::async_add(sums + i % 64, 1U);
  });
  std::vector<std::uint64_t> all(64);
  apgas::copy(sums, all);
  std::uint64_t total = 0;
  for (const std::uint64_t s : all) total += s;
  EXPECT_EQ(total, static_cast<std::uint64_t>(updates));
  deallocate(sums);
}

TEST(remote_atomics, reject_invalid_pointers) {
  for (place p : apgas::places()) {
    const auto w = allocate<int>(p, 1);
    int expected = 0;
    EXPECT_THROW(apgas::fetch_add(w + 1, 1), apgas::illegal_operation);
    EXPECT_THROW(apgas::compare_exchange(w - 1, expected, 1), apgas::illegal_operation);
    EXPECT_THROW(apgas::finish([w] { apgas::async_add(w + 1, 1); }), apgas::multiple_exceptions);
    deallocate(w);
    EXPECT_THROW(apgas::atomic_load(w), apgas::illegal_operation);
    EXPECT_THROW(apgas::finish([w] { apgas::async_xor(w, 1); }), apgas::multiple_exceptions);
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/atomic_ref.hpp>

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using apgas::base::builtin_atomic_ref;
using apgas::base::relaxed;
using apgas::base::seq_cst;

template <class T>
class BuiltinAtomicRef : public testing::Test {};
using numbers = testing::Types<std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(BuiltinAtomicRef, numbers);

TYPED_TEST(BuiltinAtomicRef, HasTheOperationsOfTheStandard) {
  TypeParam word = 1;
  const builtin_atomic_ref<TypeParam> ref(word);
  ref.store(2, seq_cst);
  EXPECT_EQ(ref.load(seq_cst), 2);
  EXPECT_EQ(ref.exchange(3, seq_cst), 2);
  TypeParam expected = 2;
  EXPECT_FALSE(ref.compare_exchange_strong(expected, 9, seq_cst, relaxed));
  EXPECT_EQ(expected, 3);
  EXPECT_TRUE(ref.compare_exchange_strong(expected, 4, seq_cst, relaxed));
  EXPECT_EQ(ref.fetch_add(5, seq_cst), 4);
  EXPECT_EQ(word, 9);
}

TYPED_TEST(BuiltinAtomicRef, LosesNoAddition) {
  constexpr int additions = 10'000;
  TypeParam word = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&word] {
      for (int i = 0; i < additions; ++i) builtin_atomic_ref<TypeParam>(word).fetch_add(1, relaxed);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(word, static_cast<TypeParam>(2 * additions));
}

}  // namespace

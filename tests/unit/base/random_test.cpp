// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/random.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

using apgas::base::random_engine;

static_assert(std::uniform_random_bit_generator<random_engine>);

// The expected numbers were computed independently, by a Python transcription of the authors' C
// code. Its splitmix64(1234567) gives the values they publish: 6457827717110365317,
// 3203168211198807973, ...
TEST(Random, ReproducesTheReferenceSequence) {
  random_engine generator(1234567);
  EXPECT_EQ(generator(), 3504822795582309479u);
  EXPECT_EQ(generator(), 1819558768956484042u);
  EXPECT_EQ(generator(), 1250851346055027673u);
  EXPECT_EQ(generator(), 16940231675099994102u);
}

TEST(Random, TheSeedDeterminesTheSequence) {
  random_engine a(42);
  random_engine b(42);
  random_engine c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto value = a();
    EXPECT_EQ(value, b());
    differs |= value != c();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, BelowReturnsEveryNumberUnderTheBound) {
  random_engine generator(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(generator.below(6));
  for (int count : counts) EXPECT_NEAR(count, 10'000, 500);  // 5 standard deviations
  for (int i = 0; i < 100; ++i) EXPECT_EQ(generator.below(1), 0u);
}

TEST(Random, RealIsInTheUnitInterval) {
  random_engine generator(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = generator.real();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, WorksWithStandardAlgorithms) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  const auto sorted = values;
  std::shuffle(values.begin(), values.end(), random_engine(3));
  EXPECT_NE(values, sorted);
  std::ranges::sort(values);
  EXPECT_EQ(values, sorted);
}

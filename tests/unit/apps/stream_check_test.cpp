// SPDX-License-Identifier: Apache-2.0

// The checks of apps/stream: of the words that were copied, and of the elements of a triad.

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stream/copies.hpp"
#include "stream/triad.hpp"

namespace {

using stream::are_words_of;
using stream::words_of;

TEST(StreamCheck, AcceptsTheWordsThatWereSent) {
  EXPECT_TRUE(are_words_of(2, 5, 100, words_of(2, 5, 100)));
  EXPECT_TRUE(are_words_of(0, 0, 1, words_of(0, 0, 1)));
}

TEST(StreamCheck, RefusesOneWrongWord) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{50}, std::size_t{99}}) {
    std::vector<stream::word> found = words_of(2, 5, 100);
    found[i] ^= 1;
    EXPECT_FALSE(are_words_of(2, 5, 100, found));
    found[i] = 0;  // as before the copy
    EXPECT_FALSE(are_words_of(2, 5, 100, found));
  }
  std::vector<stream::word> found = words_of(2, 5, 100);
  std::swap(found[10], found[11]);
  EXPECT_FALSE(are_words_of(2, 5, 100, found));
}

TEST(StreamCheck, RefusesTheWordsOfAnotherPlaceOrRound) {
  EXPECT_FALSE(are_words_of(2, 5, 100, words_of(1, 5, 100)));
  EXPECT_FALSE(are_words_of(2, 5, 100, words_of(2, 4, 100)));
  EXPECT_FALSE(are_words_of(2, 5, 1, words_of(2, 4, 1)));
}

TEST(StreamCheck, RefusesAnotherNumberOfWords) {
  EXPECT_FALSE(are_words_of(2, 5, 100, words_of(2, 5, 99)));
  EXPECT_FALSE(are_words_of(2, 5, 100, words_of(2, 5, 101)));
  EXPECT_FALSE(are_words_of(2, 5, 100, {}));
}

// b is 0, 1, 2, ..., and c is the same modulo 1021.
std::vector<double> triad_of(double scalar) {
  std::vector<double> a;
  for (int i = 0; i < 3000; ++i) a.push_back(i + scalar * (i % 1021));
  return a;
}

TEST(TriadCheck, AcceptsTheTriad) {
  EXPECT_EQ(stream::wrong_elements(triad_of(1), 1), 0);
  EXPECT_EQ(stream::wrong_elements(triad_of(7), 7), 0);
}

TEST(TriadCheck, CountsWrongElements) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1021}, std::size_t{2999}}) {
    for (const double wrong :
         {-1.0, triad_of(7)[i] * (1 + 3e-16) + 1e-300, std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::infinity()}) {
      std::vector<double> a = triad_of(7);
      a[i] = wrong;
      EXPECT_EQ(stream::wrong_elements(a, 7), 1) << "element " << i << " is " << wrong;
    }
  }
}

TEST(TriadCheck, CountsTheElementsOfTheRoundBefore) {
  EXPECT_EQ(stream::wrong_elements(triad_of(6), 7), 2997);  // c is 0 at 0, 1021 and 2042
}

}  // namespace

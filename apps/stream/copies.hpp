// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words that the places copy, which the receiver can compute by itself. Does not use the
// library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stream {

using word = std::uint64_t;

// Word i of those that place `source` sends in a round.
inline word word_of(int source, int round, std::int64_t i) {
  return (static_cast<word>(i) << 20) + (static_cast<word>(source) << 10) +
         static_cast<word>(round % 1024);
}

inline std::vector<word> words_of(int source, int round, std::int64_t n) {
  std::vector<word> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = word_of(source, round, i);
  return all;
}

// Whether these are the n words that place `source` sends in a round.
inline bool are_words_of(int source, int round, std::int64_t n, std::span<const word> found) {
  return std::ranges::equal(found, words_of(source, round, n));
}

}  // namespace stream

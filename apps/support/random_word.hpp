// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random input of which every place can generate a part: word k depends only on k and the seed. No
// place has to follow a sequence from its beginning, and one place can generate all of it for a
// check.

#include <cstdint>

namespace apps {

// splitmix64 of k.
constexpr std::uint64_t random_word(std::uint64_t k) {
  std::uint64_t z = (k + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Word k of the sequence of the given seed.
constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t k) {
  return random_word(random_word(seed) ^ k);
}

// A number in [0, 1).
constexpr double random_fraction(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

}  // namespace apps

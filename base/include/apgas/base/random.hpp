// SPDX-License-Identifier: Apache-2.0
#pragma once

// The random number generator of the library and its tests: xoshiro256** of Blackman and Vigna,
// seeded through splitmix64. The same seed gives the same sequence on every platform, so a program
// that prints its seed can be repeated.

#include <bit>
#include <cstdint>
#include <limits>

namespace apgas::inline v0::base {

// Models std::uniform_random_bit_generator. It is not suitable for cryptography. Context: owner.
class random_engine {
 public:
  using result_type = std::uint64_t;

  explicit constexpr random_engine(std::uint64_t seed) noexcept {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

  constexpr result_type operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Returns a number in [0, bound). Requires: bound > 0. The bias is below bound / 2^32.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((operator()() >> 32) * bound) >> 32);
  }

  // Returns a number in [0, 1) with 53 random bits.
  constexpr double real() noexcept { return static_cast<double>(operator()() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_[4] = {};
};

}  // namespace apgas::inline v0::base

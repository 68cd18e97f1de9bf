// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace jgf {

// The generator of java.util.Random, as its documentation defines it: a linear congruential
// generator of 48 bits.
class java_random {
 public:
  explicit java_random(std::int64_t seed)
      : state_((static_cast<std::uint64_t>(seed) ^ multiplier) & mask) {}

  // A number in [0, 1) of 53 bits.
  double next_double() {
    const std::uint64_t high = next(26);
    return static_cast<double>((high << 27) + next(27)) * 0x1p-53;
  }

 private:
  static constexpr std::uint64_t multiplier = 0x5deece66d;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;

  std::uint64_t next(int bits) {
    state_ = (state_ * multiplier + 0xb) & mask;
    return state_ >> (48 - bits);
  }

  std::uint64_t state_;
};

}  // namespace jgf

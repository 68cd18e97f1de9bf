// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npb {

// The generator of the NAS Parallel Benchmarks: x <- 5^13 x mod 2^46, as a number in (0, 1).
class randlc {
 public:
  double operator()() {
    constexpr std::uint64_t multiplier = 1220703125;
    x_ = x_ * multiplier & ((std::uint64_t{1} << 46) - 1);
    return static_cast<double>(x_) * 0x1p-46;
  }

 private:
  std::uint64_t x_ = 314159265;
};

}  // namespace npb

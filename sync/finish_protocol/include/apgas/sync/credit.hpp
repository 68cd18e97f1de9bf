// SPDX-License-Identifier: Apache-2.0
#pragma once

// Credit: how a finish knows that nothing of it is left at other places. Home hands out shares,
// each task frame between places carries one, and a place gives back all it holds when nothing of
// the finish is left there. This file: the sizes of shares and the value that carries credit back.
// Used by finish_home.hpp and remote_finish_state.hpp; the long story is docs/protocols/finish.md.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace apgas::inline v0::sync {

// A sum of shares. 64 bits are too few: four direct tasks at one place are already 2^64.
__extension__ using credit_sum = unsigned __int128;

// What home mints for a task or grants on a request. A forward halves it at best, so it lasts for
// a chain of 62 places, or for five generations of 100 remote children each, before a place must
// ask. 128 bits hold 2^66 of them: at a thousand million a second, two thousand years.
inline constexpr std::uint64_t full_share = std::uint64_t{1} << 62;

// A forward takes 1/2 of the pool for the first task a place sends, 1/4 for the next two, 1/8 for
// the next four, and so on to 1/2^16. So a chain costs one bit per hop; the n-th child costs about
// 1 + 1.7 log2 n bits, where halving every time would cost n; and a full share lasts for 1.6
// million sends from one place.
inline constexpr std::uint32_t most_splits = (1U << 16) - 2;

// The share of the next task from `pool`, at a place that has sent `splits` tasks before.
// 0: the pool is below the floor, 2^shift, and home must be asked.
constexpr std::uint64_t next_share(credit_sum pool, std::uint32_t splits) noexcept {
  const auto shift = std::bit_width(std::min(splits, most_splits) + 1);
  return static_cast<std::uint64_t>(std::min<credit_sum>(pool >> shift, full_share));
}

// All that a place held when it became quiescent.
// Wire: in a return message to home, or in the reply of an `at` to the caller's place.
struct returned_credit {
  std::uint64_t low = 0;  // the credit, 128 bits
  std::uint64_t high = 0;
  std::int64_t balance = 0;  // task frames sent less task frames received, for the check at home

  constexpr credit_sum credit() const noexcept {
    return (static_cast<credit_sum>(high) << 64) | low;
  }
};
static_assert(sizeof(returned_credit) == 24 && std::is_trivially_copyable_v<returned_credit>);

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Credit, by which a finish knows whether anything of it is left at other places. The home place
// issues shares of credit, every task frame between places carries a share, and a place gives back
// all the credit it holds when nothing of the finish is left there. This is weight throwing
// (Mattern 1989, Huang 1989). The file defines the sizes of shares and the value that carries
// credit back. finish_home.hpp and remote_finish_state.hpp use it; docs/protocols/finish.md
// explains the protocol.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace apgas::inline v0::sync {

// A sum of shares. 64 bits do not suffice: four tasks sent directly to one place make 2^64.
__extension__ using credit_sum = unsigned __int128;

// The share that the home place issues with a task it sends, or grants on a request. A place that
// sends a task on gives it half of its credit at most, so the share lasts for a chain of 62 places,
// or for five generations of 100 remote children each, before a place must ask for more. A 128-bit
// sum holds 2^66 such shares, which suffices for two thousand years at a thousand million a second.
inline constexpr std::uint64_t full_share = std::uint64_t{1} << 62;

// A place gives 1/2 of its pool to the first task it sends, 1/4 to each of the next two, 1/8 to
// each of the next four, and so on down to 1/2^16. A chain therefore costs one bit for each hop,
// and the n-th child costs about 1 + 1.7 log2 n bits, whereas halving every time would cost n. A
// full share lasts for 1.6 million sends from one place.
inline constexpr std::uint32_t most_splits = (1U << 16) - 2;

// Returns the share of the next task, taken from `pool`, at a place that has sent `splits` tasks
// before. Returns 0 if the pool is smaller than 2^shift; then the place must ask home for credit.
constexpr std::uint64_t next_share(credit_sum pool, std::uint32_t splits) noexcept {
  const auto shift = std::bit_width(std::min(splits, most_splits) + 1);
  return static_cast<std::uint64_t>(std::min<credit_sum>(pool >> shift, full_share));
}

// All the credit that a place held when it became quiescent.
// Wire: in a return message to the home place or a parent, or in the reply of an `at` to the place
// of the caller.
struct returned_credit {
  std::uint64_t low = 0;  // the lower and the upper half of the credit
  std::uint64_t high = 0;
  std::int64_t balance = 0;  // task frames sent less task frames received, checked by home

  constexpr credit_sum credit() const noexcept {
    return (static_cast<credit_sum>(high) << 64) | low;
  }
};
static_assert(sizeof(returned_credit) == 24 && std::is_trivially_copyable_v<returned_credit>);

}  // namespace apgas::inline v0::sync

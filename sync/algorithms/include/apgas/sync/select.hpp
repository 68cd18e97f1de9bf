// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <apgas/sync/algorithm_ranges.hpp>

// The serial steps of copy_if, pack and stable_partition. A flag is a byte that is not 0 for an
// element that is selected.
namespace apgas::inline v0::sync {

using flag = std::uint8_t;

// Sets the flags of the elements [begin, end), and returns how many are selected.
template <class Selected>
std::size_t set_flags(std::size_t begin, std::size_t end, flag* flags, Selected&& selected) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const bool yes = static_cast<bool>(selected(i));
    flags[i] = static_cast<flag>(yes);
    count += yes;
  }
  return count;
}

// Returns how many of the elements [begin, end) are selected.
template <class Flag>
std::size_t count_flags(std::size_t begin, std::size_t end, const Flag* flags) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) count += static_cast<bool>(flags[i]);
  return count;
}

// Calls put(k, i) for the k-th selected element i of [begin, end), in their order. It writes the
// positions of up to 256 elements without a branch, and then visits those, because the processor
// would mispredict a branch on a random choice.
template <class Flag, class Put>
void for_selected(std::size_t begin, std::size_t end, const Flag* flags, Put put) {
  std::size_t k = 0;
  std::array<std::uint8_t, 256> chosen;
  while (begin < end) {
    const std::size_t m = std::min<std::size_t>(end - begin, chosen.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < m; ++i) {
      chosen[count] = static_cast<std::uint8_t>(i);
      count += static_cast<bool>(flags[begin + i]);
    }
    for (std::size_t c = 0; c < count; ++c) put(k++, begin + chosen[c]);
    begin += m;
  }
}

}  // namespace apgas::inline v0::sync

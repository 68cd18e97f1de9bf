// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <utility>

#include <apgas/errors.hpp>

// The range of a parallel loop: [first, last) of indices or random access iterators.
namespace apgas::inline v0::detail {

template <class I>
concept loop_index = std::integral<I> || std::random_access_iterator<I>;

// Converts the end of a loop to the type of its begin, so that forall(0, v.size(), ...) counts in
// int. Throws: illegal_operation if the end does not fit that type.
template <class I, class J>
I end_as(J last) {
  if constexpr (std::integral<I>) {
    static_assert(std::integral<J>, "the end of a loop over indices is an index");
    if (!std::in_range<I>(last)) {
      throw illegal_operation(
          "the end of a loop does not fit the type of its begin; begin with std::size_t{0} or 0L");
    }
    return static_cast<I>(last);
  } else {
    return last;
  }
}

// Returns the number of indices in [first, last), which may exceed the range of the index type.
template <class I>
std::uint64_t length(I first, I last) {
  if constexpr (std::integral<I>) {
    return static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  } else {
    return static_cast<std::uint64_t>(last - first);
  }
}

template <class I>
I advanced(I first, std::uint64_t n) {
  if constexpr (std::integral<I>) {
    return static_cast<I>(static_cast<std::uint64_t>(first) + n);
  } else {
    return first + static_cast<std::iter_difference_t<I>>(n);
  }
}

template <class I>
I middle_of(I first, I last) {
  return advanced(first, length(first, last) / 2);
}

}  // namespace apgas::inline v0::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>

// The arguments of the parallel algorithms: what they may be, and the checks made at each call. A
// type that an algorithm cannot take does not compile, and one sentence of the compiler says why. A
// destination that overlaps the source throws illegal_operation. This check compares addresses, so
// it is made only for contiguous iterators.
namespace apgas::inline v0::sync {

// The second of two arguments that denote [first, last). With another type the two arguments are a
// range and a function.
template <class I>
concept position = std::input_or_output_iterator<I>;

template <class I>
consteval void require_random_access() {
  static_assert(std::random_access_iterator<I>,
                "apgas: a parallel algorithm needs random access iterators, such as those of "
                "std::vector, std::span, std::deque or an array; copy the elements of another "
                "container into a std::vector first");
}

// Elements of std::vector<bool> share words, so tasks that write different elements would race.
template <class I>
consteval void require_destination() {
  require_random_access<I>();
  static_assert(
      !std::same_as<std::iter_reference_t<I>, std::vector<bool>::reference>,
      "apgas: tasks cannot write to a std::vector<bool> in parallel, because its elements "
      "share words; use std::vector<char>");
}

template <class I>
std::iter_difference_t<I> offset(std::size_t n) {
  return static_cast<std::iter_difference_t<I>>(n);
}

// Returns first + n.
template <class I>
I nth(I first, std::size_t n) {
  return first + offset<I>(n);
}

// Returns the number of elements of [first, last); 0 if last is before first.
template <class I>
std::size_t size_between(I first, I last) {
  return first < last ? static_cast<std::size_t>(last - first) : 0;
}

// Returns the end of a range as an iterator of the same type as its begin.
template <class Range>
std::ranges::iterator_t<Range> end_of(Range& range) {
  require_random_access<std::ranges::iterator_t<Range>>();
  return std::ranges::next(std::ranges::begin(range), std::ranges::end(range));
}

[[noreturn]] APGAS_API void refuse_overlap(const char* algorithm, bool same_begin_allowed);
[[noreturn]] APGAS_API void refuse_sizes(const char* algorithm, std::size_t elements,
                                         std::size_t others);
[[noreturn]] APGAS_API void refuse_bucket(std::size_t bucket, std::size_t buckets, bool negative);

// Whether a destination may begin where its source begins, so that each element is replaced.
enum class in_place : bool { refused, allowed };

// Checks that the destination [out, out + m) does not overlap the source [first, first + n).
// Throws: illegal_operation. Cost: two comparisons, if both are contiguous; otherwise none.
template <class I, class O>
void check_overlap(const char* algorithm, I first, std::size_t n, O out, std::size_t m,
                   in_place same_begin) {
  if constexpr (std::contiguous_iterator<I> && std::contiguous_iterator<O>) {
    if (n == 0 || m == 0) return;
    const auto* from = reinterpret_cast<const char*>(std::to_address(first));
    const auto* to = reinterpret_cast<const char*>(std::to_address(out));
    const std::less<> before;
    constexpr std::size_t source_bytes = sizeof(std::iter_value_t<I>);
    constexpr std::size_t target_bytes = sizeof(std::iter_value_t<O>);
    if (from == to && same_begin == in_place::allowed && source_bytes == target_bytes) return;
    if (before(from, to + m * target_bytes) && before(to, from + n * source_bytes)) {
      refuse_overlap(algorithm, same_begin == in_place::allowed);
    }
  }
}

}  // namespace apgas::inline v0::sync

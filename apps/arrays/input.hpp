// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elements of the array, and the checks of the results. Does not use the library, so that the
// program in plain MPI (apps/peers) does the same. The elements are doubles with integer values, so
// that sums are exact in every order.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/random_word.hpp"

namespace arrays {

inline constexpr std::int64_t most_elements = 100'000'000;  // sums are below 2^53
inline constexpr std::size_t buckets = 256;

// Defines the elements. Sent to all places.
struct input {
  std::int64_t size;
  std::int64_t seed;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(size); }
  // An integer below 2^26.
  [[nodiscard]] double at(std::size_t i) const {
    return static_cast<double>(apps::random_word(static_cast<std::uint64_t>(seed), i) >> 38);
  }
  // The elements [first, last).
  [[nodiscard]] std::vector<double> some(std::size_t first, std::size_t last) const {
    std::vector<double> elements;
    elements.reserve(last - first);
    for (std::size_t i = first; i < last; ++i) elements.push_back(at(i));
    return elements;
  }
  [[nodiscard]] std::vector<double> all() const { return some(0, count()); }
};

constexpr std::size_t bucket_of(double x) { return static_cast<std::size_t>(x) >> 18; }

inline double sum_of(const input& in) {
  double sum = 0;
  for (std::size_t i = 0; i < in.count(); ++i) sum += in.at(i);
  return sum;
}

inline std::size_t minimum_of(const input& in) {
  std::size_t least = 0;
  for (std::size_t i = 1; i < in.count(); ++i) {
    if (in.at(i) < in.at(least)) least = i;
  }
  return least;
}

inline std::vector<std::size_t> histogram_of(const input& in) {
  std::vector<std::size_t> counts(buckets);
  for (std::size_t i = 0; i < in.count(); ++i) ++counts[bucket_of(in.at(i))];
  return counts;
}

// Whether these are the prefix sums from element `first` on.
inline bool are_prefix_sums(const input& in, std::size_t first, std::span<const double> sums) {
  double sum = 0;
  for (std::size_t i = 0; i < first; ++i) sum += in.at(i);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sum += in.at(first + k);
    if (sums[k] != sum) return false;
  }
  return true;
}

// A summary of consecutive elements that shows whether the whole is in order and has the elements
// of the input.
struct summary {
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;  // does not depend on the order
  double first = 0;
  double last = 0;
  bool ordered = true;

  summary() = default;
  explicit summary(std::span<const double> elements)
      : count(elements.size()),
        first(elements.empty() ? 0 : elements.front()),
        last(elements.empty() ? 0 : elements.back()),
        ordered(std::ranges::is_sorted(elements)) {
    for (const double x : elements) checksum += apps::random_word(std::bit_cast<std::uint64_t>(x));
  }
  // Adds the summary of the elements that follow.
  void add(const summary& next) {
    ordered = ordered && next.ordered && (count == 0 || next.count == 0 || last <= next.first);
    if (count == 0) first = next.first;
    if (next.count != 0) last = next.last;
    count += next.count;
    checksum += next.checksum;
  }
  [[nodiscard]] bool is_sorted_form_of(const input& in) const {
    const summary unsorted(in.all());
    return ordered && count == unsorted.count && checksum == unsorted.checksum;
  }
};

}  // namespace arrays

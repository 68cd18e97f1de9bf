// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <source_location>
#include <utility>

#include <apgas/base/atomic.hpp>
#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/partition_blocks.hpp>

// Searches: find_if, min_element and max_element.
namespace apgas::inline v0::sync {

// Returns the position of the first of the least elements of [begin, end), which has one at least.
// Cheap elements are compared with a copy of the least one, since to load that again would take
// longer than the comparison.
template <class I, class Less>
std::size_t first_least(I first, std::size_t begin, std::size_t end, Less& less) {
  if constexpr (cheap_elements<I>) {
    std::iter_value_t<I> least = first[offset<I>(begin)];
    std::size_t position = begin;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const std::iter_value_t<I> x = first[offset<I>(i)];
      if (std::invoke(less, x, least)) [[unlikely]] {
        least = x;
        position = i;
      }
    }
    return position;
  } else {
    const auto by_reference = [&less](auto&& a, auto&& b) { return std::invoke(less, a, b); };
    return static_cast<std::size_t>(
        std::min_element(nth(first, begin), nth(first, end), by_reference) - first);
  }
}

template <class I, class Less>
I least_element(const char* algorithm, I first, I last, Less& less, std::source_location site) {
  require_random_access<I>();
  workers_for(algorithm);
  const std::size_t n = size_between(first, last);
  if (n == 0) return last;
  const auto found = block_values<std::size_t>(
      divide(n), site,
      [&](std::size_t begin, std::size_t end) { return first_least(first, begin, end, less); });
  return collecting(site, [&] {
    std::size_t least = *found[0];
    for (const auto& each : found) {
      if (std::invoke(less, first[offset<I>(*each)], first[offset<I>(least)])) least = *each;
    }
    return nth(first, least);
  });
}

// The order of max_element: the first of the greatest elements is the first of the least in the
// reverse order.
template <class Less>
struct reversed {
  Less less;
  template <class A, class B>
  bool operator()(A&& a, B&& b) {
    return static_cast<bool>(std::invoke(less, b, a));
  }
};

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Returns the first element x of [first, last) for which pred(x) is true, or `last`. The search
// goes through groups of elements, each as large as all those before it up to 262,144 for each
// worker, and ends with the group that has a match. So pred is called for at most twice as many
// elements as there are up to the match, or for 4096 if that is more.
//
//   const auto negative = apgas::parallel::find_if(x, [](double v) { return v < 0; });
//   assert(negative == x.end());
//
// Throws: multiple_exceptions if pred threw for an element that was visited, even if there is a
// match before it; illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: as std::find_if.
template <sync::position I, class Pred>
I find_if(I first, I last, Pred pred, std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  const std::size_t longest_group =
      64 * sync::block_elements * sync::workers_for("parallel::find_if");
  const std::size_t n = sync::size_between(first, last);
  for (std::size_t done = 0; done < n;) {
    const std::size_t group =
        std::min(n - done, std::clamp(done, sync::block_elements, longest_group));
    base::atomic<std::size_t> match(n);
    sync::for_blocks(
        sync::divide(group), site, [&](std::size_t, std::size_t begin, std::size_t end) {
          // A relaxed order suffices: a stale match only makes the search longer.
          if (done + begin > match.load(base::relaxed)) return;
          const auto accepted = [&pred](auto&& x) { return std::invoke(pred, x); };
          const I stop = sync::nth(first, done + end);
          const I found = std::find_if(sync::nth(first, done + begin), stop, accepted);
          if (found == stop) return;
          const auto at = static_cast<std::size_t>(found - first);
          std::size_t least = match.load(base::relaxed);
          while (at < least &&
                 !match.compare_exchange_weak(least, at, base::relaxed, base::relaxed)) {
          }
        });
    const std::size_t found = match.load(base::relaxed);
    if (found < n) return sync::nth(first, found);
    done += group;
  }
  return last;
}

// The same for the elements of a range.
template <std::ranges::range Range, class Pred>
std::ranges::borrowed_iterator_t<Range> find_if(
    Range&& range, Pred pred, std::source_location site = std::source_location::current()) {
  return parallel::find_if(std::ranges::begin(range), sync::end_of(range), std::move(pred), site);
}

// Returns the first of the least elements of a range, or of [first, last), in the order `less`, or
// `last` if there are none.
//
//   const double least = *apgas::parallel::min_element(x);
//
// Throws: multiple_exceptions if less threw; illegal_operation outside a task and inside `atomic`
// or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: as std::min_element.
template <sync::position I, class Less = std::less<>>
I min_element(I first, I last, Less less = {},
              std::source_location site = std::source_location::current()) {
  return sync::least_element("parallel::min_element", first, last, less, site);
}
template <std::ranges::range Range, class Less = std::less<>>
std::ranges::borrowed_iterator_t<Range> min_element(
    Range&& range, Less less = {}, std::source_location site = std::source_location::current()) {
  return parallel::min_element(std::ranges::begin(range), sync::end_of(range), std::move(less),
                               site);
}

// Returns the first of the greatest elements of a range, or of [first, last), in the order `less`,
// or `last` if there are none.
//
//   const double greatest = *apgas::parallel::max_element(x);
//
// Throws, Context, Cost: as min_element.
template <sync::position I, class Less = std::less<>>
I max_element(I first, I last, Less less = {},
              std::source_location site = std::source_location::current()) {
  sync::reversed<Less> greater{std::move(less)};
  return sync::least_element("parallel::max_element", first, last, greater, site);
}
template <std::ranges::range Range, class Less = std::less<>>
std::ranges::borrowed_iterator_t<Range> max_element(
    Range&& range, Less less = {}, std::source_location site = std::source_location::current()) {
  return parallel::max_element(std::ranges::begin(range), sync::end_of(range), std::move(less),
                               site);
}

}  // namespace apgas::inline v0::parallel

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/merge_sort.hpp>
#include <apgas/sync/quick_sort.hpp>
#include <apgas/sync/scratch.hpp>

// Sorting by comparisons: sort and stable_sort. For integer keys, integer_sort is faster.
namespace apgas::inline v0::parallel {

// Sorts [first, last) in the order `comp`. Equal elements may come in any order. Elements need only
// be movable and swappable. The sequence is sorted in place, by a quicksort whose partitions and
// whose two sides run in parallel.
//
//   std::vector<int> v{3, 1, 2};
//   apgas::parallel::sort(v);
//   apgas::parallel::sort(v.begin(), v.end(), std::greater<>());
//
// Throws: multiple_exceptions if comp or a move threw. If it was comp, all elements are there, in
// another order. illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: O(n log n) comparisons in every case, O(n) if the elements are sorted already. No memory
// for elements. Trivially copyable elements of up to 16 bytes are partitioned without a branch on
// their order.
template <sync::position I, class Comp = std::less<>>
void sort(I first, I last, Comp comp = {},
          std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  const std::size_t workers = sync::workers_for("parallel::sort");
  auto less = [&comp](auto&& a, auto&& b) { return static_cast<bool>(std::invoke(comp, a, b)); };
  sync::collecting(
      site, [&] { sync::quick_sort<I, decltype(less)>(less, workers, site).sort(first, last); });
}

// The same for the elements of a range.
template <std::ranges::range Range, class Comp = std::less<>>
void sort(Range&& range, Comp comp = {},
          std::source_location site = std::source_location::current()) {
  parallel::sort(std::ranges::begin(range), sync::end_of(range), std::move(comp), site);
}

// Sorts [first, last) in the order `comp`, and equal elements keep their order. The elements must
// be movable.
//
//   apgas::parallel::stable_sort(
//       orders, [](const order& a, const order& b) { return a.customer < b.customer; });
//
// Throws: multiple_exceptions if comp or a move threw; elements may then have been moved from, and
// none is destroyed twice or leaked. std::bad_alloc. illegal_operation outside a task and inside
// `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: O(n log n) comparisons, and memory for all elements. A merge sort; the halves are sorted
// and merged in parallel.
template <sync::position I, class Comp = std::less<>>
void stable_sort(I first, I last, Comp comp = {},
                 std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  const std::size_t workers = sync::workers_for("parallel::stable_sort");
  const std::size_t n = sync::size_between(first, last);
  auto less = [&comp](auto&& a, auto&& b) { return static_cast<bool>(std::invoke(comp, a, b)); };
  using value = std::iter_value_t<I>;
  sync::scratch<value> buffer(n);
  sync::collecting(site, [&] {
    if constexpr (sync::bytes_suffice<value>) {
      sync::merge_sort<I, value*, decltype(less)>(less, n, workers, site)
          .sort_back(first, n, buffer.data());
    } else {
      buffer.take(first, site);
      sync::merge_sort<value*, I, decltype(less)>(less, n, workers, site)
          .sort_into(buffer.data(), n, first);
    }
  });
}

// The same for the elements of a range.
template <std::ranges::range Range, class Comp = std::less<>>
void stable_sort(Range&& range, Comp comp = {},
                 std::source_location site = std::source_location::current()) {
  parallel::stable_sort(std::ranges::begin(range), sync::end_of(range), std::move(comp), site);
}

}  // namespace apgas::inline v0::parallel

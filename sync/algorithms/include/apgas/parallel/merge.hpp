// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <source_location>
#include <utility>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/merge_blocks.hpp>

// The merge of two sorted sequences.
namespace apgas::inline v0::parallel {

// Merges [first1, last1) and [first2, last2), which are sorted in the order `comp`, into one sorted
// sequence from `out` on, and returns its end. The merge is stable: equal elements keep their
// order, and those of the first sequence come first. The destination must not overlap either
// source.
//
//   const std::vector<int> odd{1, 3, 5};
//   const std::vector<int> even{2, 4};
//   std::vector<int> all(odd.size() + even.size());
//   apgas::parallel::merge(odd, even, all.begin());
//
// Throws: multiple_exceptions if comp or an assignment threw; elements of the destination may then
// have been written. illegal_operation outside a task, inside `atomic` or `when`, and for
// contiguous iterators if the destination overlaps a source.
// Context: task. May suspend and resume on another worker.
// Cost: as std::merge, and two binary searches for each block of up to 16384 elements. For
// trivially copyable elements of up to 16 bytes, the loop is written without a branch on the order.
template <sync::position I, sync::position J, sync::position O, class Comp = std::less<>>
O merge(I first1, I last1, J first2, J last2, O out, Comp comp = {},
        std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::require_random_access<J>();
  sync::require_destination<O>();
  sync::workers_for("parallel::merge");
  const sync::sorted<I> a{first1, sync::size_between(first1, last1)};
  const sync::sorted<J> b{first2, sync::size_between(first2, last2)};
  const std::size_t n = a.n + b.n;
  sync::check_overlap("parallel::merge", first1, a.n, out, n, sync::in_place::refused);
  sync::check_overlap("parallel::merge", first2, b.n, out, n, sync::in_place::refused);
  sync::merge_parallel<false>(a, b, out, comp, site);
  return sync::nth(out, n);
}

// The same for the sorted ranges `range1` and `range2`.
template <std::ranges::range Range, std::ranges::range Range2, sync::position O,
          class Comp = std::less<>>
O merge(Range&& range1, Range2&& range2, O out, Comp comp = {},
        std::source_location site = std::source_location::current()) {
  return parallel::merge(std::ranges::begin(range1), sync::end_of(range1),
                         std::ranges::begin(range2), sync::end_of(range2), out, std::move(comp),
                         site);
}

}  // namespace apgas::inline v0::parallel

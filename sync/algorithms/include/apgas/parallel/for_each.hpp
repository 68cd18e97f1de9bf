// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <source_location>
#include <utility>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>

// Calls of a function for every element: for_each and transform.
namespace apgas::inline v0::parallel {

// Calls f(x) for every element x of [first, last), and waits for all calls. The calls may run in
// any order and several of them may share a task, so they must not wait for each other. This is
// apgas::forall with the parameters of std::for_each. What f returns is ignored.
//
//   apgas::parallel::for_each(x, [](double& v) { v = std::sqrt(v); });
//
// Throws: multiple_exceptions if f threw, after the other elements have been visited;
// illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: with one worker that of std::for_each; each division of the work is a fork_join.
template <sync::position I, class F>
void for_each(I first, I last, F f, std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::workers_for("parallel::for_each");
  forall(first, last, [&f](const I& i) { std::invoke(f, *i); }, 0, site);
}

// The same for the elements of a range, by reference if the range gives references.
template <std::ranges::range Range, class F>
void for_each(Range&& range, F f, std::source_location site = std::source_location::current()) {
  parallel::for_each(std::ranges::begin(range), sync::end_of(range), std::move(f), site);
}

// Assigns f(x) to the elements from `out` on, for every element x of [first, last), in their order,
// and returns the end of what was written. `out` may be `first`; otherwise the destination must not
// overlap the source.
//
//   apgas::parallel::transform(x, y.begin(), [](double v) { return 2 * v; });
//
// Throws: multiple_exceptions if f or an assignment threw. The elements of that block, of up to
// 4096, which follow the one that threw are then left as they were; all other blocks are complete.
// illegal_operation outside a task, inside `atomic` or `when`, and for contiguous iterators if the
// destination overlaps the source and `out` is not `first`.
// Context: task. May suspend and resume on another worker.
// Cost: as std::transform.
template <sync::position I, sync::position O, class F>
O transform(I first, I last, O out, F f,
            std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::require_destination<O>();
  sync::workers_for("parallel::transform");
  const std::size_t n = sync::size_between(first, last);
  sync::check_overlap("parallel::transform", first, n, out, n, sync::in_place::allowed);
  sync::for_blocks(sync::divide(n), site, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::transform(sync::nth(first, begin), sync::nth(first, end), sync::nth(out, begin),
                   std::ref(f));
  });
  return sync::nth(out, n);
}

// The same for the elements of a range.
template <std::ranges::range Range, sync::position O, class F>
O transform(Range&& range, O out, F f,
            std::source_location site = std::source_location::current()) {
  return parallel::transform(std::ranges::begin(range), sync::end_of(range), out, std::move(f),
                             site);
}

// The same with a function of two elements: assigns f(x, y) for every element x of [first1, last1)
// and the element y at the same position from `first2` on. `out` may be `first1` or `first2`.
template <sync::position I, sync::position J, sync::position O, class F>
O transform(I first1, I last1, J first2, O out, F f,
            std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::require_random_access<J>();
  sync::require_destination<O>();
  sync::workers_for("parallel::transform");
  const std::size_t n = sync::size_between(first1, last1);
  sync::check_overlap("parallel::transform", first1, n, out, n, sync::in_place::allowed);
  sync::check_overlap("parallel::transform", first2, n, out, n, sync::in_place::allowed);
  sync::for_blocks(sync::divide(n), site, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::transform(sync::nth(first1, begin), sync::nth(first1, end), sync::nth(first2, begin),
                   sync::nth(out, begin), std::ref(f));
  });
  return sync::nth(out, n);
}

// The same for the elements of `range1` and `range2`. Throws also: illegal_operation if their sizes
// differ.
template <std::ranges::range Range, std::ranges::range Range2, sync::position O, class F>
O transform(Range&& range1, Range2&& range2, O out, F f,
            std::source_location site = std::source_location::current()) {
  const auto first1 = std::ranges::begin(range1);
  const auto first2 = std::ranges::begin(range2);
  const auto last1 = sync::end_of(range1);
  const std::size_t size1 = sync::size_between(first1, last1);
  const std::size_t size2 = sync::size_between(first2, sync::end_of(range2));
  if (size1 != size2) sync::refuse_sizes("parallel::transform", size1, size2);
  return parallel::transform(first1, last1, first2, out, std::move(f), site);
}

}  // namespace apgas::inline v0::parallel

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

// Reductions: reduce and transform_reduce. Each block is reduced by a serial loop, and the results
// of the blocks are combined in their order. The blocks depend only on the number of elements. So
// the operation need not be commutative, and the result is the same in every run and with every
// number of workers, also for floating-point numbers.
namespace apgas::inline v0::sync {

// Returns op over the values at(begin), ..., at(end - 1), which are at least one, in their order.
// Floating-point numbers are combined in groups of eight, so that the processor need not wait for
// one addition before the next.
template <class T, class At, class Op>
T fold(std::size_t begin, std::size_t end, At& at, Op& op) {
  T sum(at(begin));
  std::size_t i = begin + 1;
  if constexpr (std::is_floating_point_v<T>) {
    const auto four = [&at, &op](std::size_t k) {
      return op(op(T(at(k)), T(at(k + 1))), op(T(at(k + 2)), T(at(k + 3))));
    };
    for (; end - i >= 8; i += 8) sum = op(sum, op(four(i), four(i + 4)));
  }
  for (; i < end; ++i) sum = op(std::move(sum), at(i));
  return sum;
}

// Returns op over init and the values at(0), ..., at(n - 1).
template <class T, class At, class Op>
T reduce_blocks(std::size_t n, T init, At at, Op& op, std::source_location site) {
  if (n == 0) return init;
  auto sums = block_values<T>(divide(n), site, [&](std::size_t begin, std::size_t end) {
    return fold<T>(begin, end, at, op);
  });
  return collecting(site, [&] {
    T sum = std::move(init);
    for (auto& each : sums) sum = op(std::move(sum), *std::move(each));
    return sum;
  });
}

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Returns `op` over `init` and the elements of [first, last), in their order. `op` must be
// associative; unlike with std::reduce it need not be commutative. It is called with two values of
// type T, or with a T and an element, and T can be constructed from an element. An `op` that is
// only nearly associative, such as the addition of floating-point numbers, gives the same result in
// every run and with every number of workers.
//
//   const double sum = apgas::parallel::reduce(x, 0.0);
//
// Throws: multiple_exceptions if op threw; illegal_operation outside a task and inside `atomic` or
// `when`.
// Context: task. May suspend and resume on another worker.
// Cost: as std::reduce, and one T for each block of up to 4096 elements.
template <sync::position I, class T, class Op = std::plus<>>
T reduce(I first, I last, T init, Op op = {},
         std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::workers_for("parallel::reduce");
  const auto at = [first](std::size_t i) -> decltype(auto) { return first[sync::offset<I>(i)]; };
  return sync::reduce_blocks(sync::size_between(first, last), std::move(init), at, op, site);
}

// The same from a value-initialised element on: the sum of the elements.
template <sync::position I>
std::iter_value_t<I> reduce(I first, I last,
                            std::source_location site = std::source_location::current()) {
  return parallel::reduce(first, last, std::iter_value_t<I>{}, std::plus<>(), site);
}

// The same for the elements of a range.
template <std::ranges::range Range, class T, class Op = std::plus<>>
  requires(!std::same_as<T, std::source_location>)
T reduce(Range&& range, T init, Op op = {},
         std::source_location site = std::source_location::current()) {
  return parallel::reduce(std::ranges::begin(range), sync::end_of(range), std::move(init),
                          std::move(op), site);
}
template <std::ranges::range Range>
std::ranges::range_value_t<Range> reduce(
    Range&& range, std::source_location site = std::source_location::current()) {
  return parallel::reduce(std::ranges::begin(range), sync::end_of(range), site);
}

// Returns `op` over `init` and all f(x) for the elements x of [first, last), in their order. `op`
// is as for reduce, with what f returns for an element.
//
//   const double norm2 = apgas::parallel::transform_reduce(x, 0.0, std::plus<>(),
//                                                          [](double v) { return v * v; });
//
// Throws, Context, Cost: as reduce, also for f.
template <sync::position I, class T, class Op, class F>
  requires(!sync::position<T>)
T transform_reduce(I first, I last, T init, Op op, F f,
                   std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::workers_for("parallel::transform_reduce");
  const auto at = [first, &f](std::size_t i) -> decltype(auto) {
    return std::invoke(f, first[sync::offset<I>(i)]);
  };
  return sync::reduce_blocks(sync::size_between(first, last), std::move(init), at, op, site);
}

// The same for the elements of a range.
template <std::ranges::range Range, class T, class Op, class F>
  requires(!std::ranges::range<T> || std::invocable<F, std::ranges::range_reference_t<Range>>)
T transform_reduce(Range&& range, T init, Op op, F f,
                   std::source_location site = std::source_location::current()) {
  return parallel::transform_reduce(std::ranges::begin(range), sync::end_of(range), std::move(init),
                                    std::move(op), std::move(f), site);
}

// Returns `op` over `init` and all f(x, y), for the elements x of [first1, last1) and the elements
// y at the same positions from `first2` on: without `op` and `f`, the inner product.
// Throws, Context, Cost: as reduce, also for f.
template <sync::position I, sync::position J, class T, class Op = std::plus<>,
          class F = std::multiplies<>>
T transform_reduce(I first1, I last1, J first2, T init, Op op = {}, F f = {},
                   std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  sync::require_random_access<J>();
  sync::workers_for("parallel::transform_reduce");
  const auto at = [first1, first2, &f](std::size_t i) -> decltype(auto) {
    return std::invoke(f, first1[sync::offset<I>(i)], first2[sync::offset<J>(i)]);
  };
  return sync::reduce_blocks(sync::size_between(first1, last1), std::move(init), at, op, site);
}

// The same for the elements of `range1` and `range2`. Throws also: illegal_operation if their sizes
// differ.
template <std::ranges::range Range, std::ranges::range Range2, class T, class Op = std::plus<>,
          class F = std::multiplies<>>
  requires(!std::invocable<Op, std::ranges::range_reference_t<Range>>)
T transform_reduce(Range&& range1, Range2&& range2, T init, Op op = {}, F f = {},
                   std::source_location site = std::source_location::current()) {
  const auto first1 = std::ranges::begin(range1);
  const auto first2 = std::ranges::begin(range2);
  const std::size_t size1 = sync::size_between(first1, sync::end_of(range1));
  const std::size_t size2 = sync::size_between(first2, sync::end_of(range2));
  if (size1 != size2) sync::refuse_sizes("parallel::transform_reduce", size1, size2);
  return parallel::transform_reduce(first1, sync::nth(first1, size1), first2, std::move(init),
                                    std::move(op), std::move(f), site);
}

}  // namespace apgas::inline v0::parallel

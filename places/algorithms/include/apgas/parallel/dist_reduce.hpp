// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <source_location>
#include <span>
#include <utility>

#include <apgas/parallel/reduce.hpp>
#include <apgas/places/portion_calls.hpp>

// Reductions of distributed arrays: reduce and transform_reduce. The workers of each place reduce
// its elements in the order of their indices. The caller combines the results of the places in the
// order of the group.
namespace apgas::inline v0::remote {

// Returns op over the values at(0), ..., at(n - 1), computed by all workers of this place.
// Requires: n > 0.
template <class R, class At, class Op>
R reduce_values(std::size_t n, At at, Op& op) {
  const auto others = [&at](std::size_t k) -> decltype(auto) { return at(k + 1); };
  return sync::reduce_blocks(n - 1, R(at(0)), others, op, call_site());
}

// Returns op over init and the results of all portions.
template <class R, class Op>
R combine_results(const std::vector<portion_result<R>>& results, R init, Op& op,
                  std::source_location site) {
  return sync::collecting(site, [&] {
    R sum = std::move(init);
    for (const portion_result<R>& each : results) sum = op(std::move(sum), each.value.get());
    return sum;
  });
}

}  // namespace apgas::inline v0::remote

namespace apgas::inline v0::parallel {

// Returns `op` over `init` and all f(x) for the elements x of the array. `op` must be associative.
// It is called with two values of type R, or with an R and what f returned, and R can be
// constructed from what f returns; R must be sendable. With a block-cyclic distribution over
// several places, `op` must also be commutative, because the elements of each place are combined
// first; otherwise they are combined in the order of their indices. With an `op` that is only
// nearly associative, such as the addition of floating-point numbers, the result depends on the
// distribution and the number of places, but not on the number of workers, and is the same in every
// run.
//
//   const apgas::dist_array<double> a = measurements();
//   const double norm2 = apgas::parallel::transform_reduce(a, 0.0, std::plus<>(),
//                                                          [](double v) { return v * v; });
//
// Throws, Context: as all algorithms over arrays (dist_algorithms.hpp).
// Cost: one round, in which each place that has elements sends back one R. No messages if the array
// is replicated.
template <class T, class R, class Op, class F>
  requires(!remote::is_dist_array<R>)
R transform_reduce(const dist_array<T>& a, R init, Op op, F f,
                   std::source_location site = std::source_location::current()) {
  sync::suspendable_fiber("parallel::transform_reduce");
  if (remote::portion_of(a).shape.replicated()) {
    return parallel::transform_reduce(a.local(), std::move(init), std::move(op), std::move(f),
                                      site);
  }
  const auto there = [](const dist_array<T>& of, Op& plus, F& map) -> R {
    const std::span<T> mine = of.local();
    const auto at = [mine, &map](std::size_t k) -> decltype(auto) {
      return std::invoke(map, mine[k]);
    };
    return remote::reduce_values<R>(mine.size(), at, plus);
  };
  return remote::combine_results(remote::results_of_portions(a, site, there, op, f),
                                 std::move(init), op, site);
}

// Returns `op` over `init` and the elements of the array: the sum of the elements, without `init`
// and `op`. Everything else is as for transform_reduce.
//
//   const apgas::dist_array<double> a = measurements();
//   const double sum = apgas::parallel::reduce(a, 0.0);
template <class T, class R, class Op = std::plus<>>
R reduce(const dist_array<T>& a, R init, Op op = {},
         std::source_location site = std::source_location::current()) {
  return parallel::transform_reduce(a, std::move(init), std::move(op), std::identity(), site);
}
template <class T>
T reduce(const dist_array<T>& a, std::source_location site = std::source_location::current()) {
  return parallel::reduce(a, T{}, std::plus<>(), site);
}

// Returns `op` over `init` and all f(x, y), for the elements x of `a` and y of `b` with the same
// index. Without `op` and `f`, this is the inner product. Both arrays must have the same
// distribution. Throws, Context, Cost: as for one array, above.
template <class T, class U, class R, class Op = std::plus<>, class F = std::multiplies<>>
R transform_reduce(const dist_array<T>& a, const dist_array<U>& b, R init, Op op = {}, F f = {},
                   std::source_location site = std::source_location::current()) {
  sync::suspendable_fiber("parallel::transform_reduce");
  remote::check_same_distribution("parallel::transform_reduce", a, b);
  if (remote::portion_of(a).shape.replicated()) {
    return parallel::transform_reduce(a.local(), b.local(), std::move(init), std::move(op),
                                      std::move(f), site);
  }
  const auto there = [](const dist_array<T>& one, const dist_array<U>& other, Op& plus,
                        F& map) -> R {
    const std::span<T> x = one.local();
    const std::span<U> y = other.local();
    const auto at = [x, y, &map](std::size_t k) -> decltype(auto) {
      return std::invoke(map, x[k], y[k]);
    };
    return remote::reduce_values<R>(x.size(), at, plus);
  };
  return remote::combine_results(remote::results_of_portions(a, site, there, b, op, f),
                                 std::move(init), op, site);
}

}  // namespace apgas::inline v0::parallel

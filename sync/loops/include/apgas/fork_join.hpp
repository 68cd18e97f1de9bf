// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <tuple>
#include <utility>

#include <apgas/sync/branch.hpp>

// Structured parallelism: branches that run in parallel and are joined before the call returns.
namespace apgas::inline v0 {

namespace detail {

template <class F>
auto fork_all(std::source_location, F f) {
  return std::tuple<sync::value_of<std::invoke_result_t<F&>>>(sync::value_from(f));
}

template <class F, class G, class... More>
auto fork_all(std::source_location site, F f, G g, More... more) {
  auto rest = [site, g = std::move(g), ... others = std::move(more)]() mutable {
    return fork_all(site, std::move(g), std::move(others)...);
  };
  auto [first, others] = sync::fork_two(std::move(f), std::move(rest), site);
  return std::tuple_cat(std::make_tuple(std::move(first)), std::move(others));
}

template <class F>
inline constexpr bool returns_void = std::is_void_v<std::invoke_result_t<F&>>;

}  // namespace detail

// Runs the branches f and g in parallel, waits for both, and returns their values: a std::pair for
// two branches, a std::tuple for more. The value of a branch that returns nothing is
// std::monostate; if no branch returns a value, the result is void. Branches are taken by value.
// The calling task runs the last branch first and offers the others to thieves. Cilk's spawn and
// sync, Chapel's cobegin.
//
// fork_join is not a finish: a task that a branch spawns by async belongs to the enclosing finish
// and may outlive the join.
//
//   const auto [left, right] = apgas::fork_join([] { return fib(20); }, [] { return fib(19); });
//   const auto [a, b, c] = apgas::fork_join(compute, measure, [] { return fib(18); });
//
// Throws: multiple_exceptions if branches threw, after all of them have ended; illegal_operation
// outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: about 2 ns for a branch that is not stolen.
template <std::invocable F, std::invocable G>
[[gnu::always_inline]] inline auto fork_join(
    F f, G g, std::source_location site = std::source_location::current()) {
  if constexpr (detail::returns_void<F> && detail::returns_void<G>) {
    static_cast<void>(sync::fork_two(std::move(f), std::move(g), site));
  } else {
    return sync::fork_two(std::move(f), std::move(g), site);
  }
}

namespace detail {
template <class... F>
auto fork_many(std::source_location site, F... branches) {
  if constexpr ((returns_void<F> && ...)) {
    static_cast<void>(fork_all(site, std::move(branches)...));
  } else {
    return fork_all(site, std::move(branches)...);
  }
}
}  // namespace detail

// The same for more branches. With up to six of them (f, g, h, i, j, k), reports show where the
// branches were forked; with more, they show where the calling task was spawned, since a defaulted
// parameter cannot follow a pack. Throws, Context, Cost: as above.
template <std::invocable... F>
  requires(sizeof...(F) > 6)
auto fork_join(F... branches) {
  return detail::fork_many(sync::suspendable_fiber("fork_join").task.site, std::move(branches)...);
}
template <std::invocable F, std::invocable G, std::invocable H>
auto fork_join(F f, G g, H h, std::source_location site = std::source_location::current()) {
  return detail::fork_many(site, std::move(f), std::move(g), std::move(h));
}
template <std::invocable F, std::invocable G, std::invocable H, std::invocable I>
auto fork_join(F f, G g, H h, I i, std::source_location site = std::source_location::current()) {
  return detail::fork_many(site, std::move(f), std::move(g), std::move(h), std::move(i));
}
template <std::invocable F, std::invocable G, std::invocable H, std::invocable I, std::invocable J>
auto fork_join(F f, G g, H h, I i, J j,
               std::source_location site = std::source_location::current()) {
  return detail::fork_many(site, std::move(f), std::move(g), std::move(h), std::move(i),
                           std::move(j));
}
template <std::invocable F, std::invocable G, std::invocable H, std::invocable I, std::invocable J,
          std::invocable K>
auto fork_join(F f, G g, H h, I i, J j, K k,
               std::source_location site = std::source_location::current()) {
  return detail::fork_many(site, std::move(f), std::move(g), std::move(h), std::move(i),
                           std::move(j), std::move(k));
}

// A call with anything but functions does not compile, and one sentence of the compiler says why.
template <class F, class... More>
  requires(!(std::invocable<F> && ... && std::invocable<More>) &&
           !(std::same_as<More, std::source_location> || ...))
auto fork_join(F, More...) {
  static_assert(std::invocable<F> && sizeof...(More) == 0,
                "apgas: fork_join takes functions without parameters, by value: fork_join(f, g), "
                "not their results or addresses, fork_join(f(), g()) or fork_join(&f, &g)");
}

}  // namespace apgas::inline v0

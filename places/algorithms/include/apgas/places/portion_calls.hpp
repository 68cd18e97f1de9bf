// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/async_future_at.hpp>
#include <apgas/base/api.hpp>
#include <apgas/dist_array.hpp>
#include <apgas/finish.hpp>
#include <apgas/sync/branch.hpp>

// The shared part of the algorithms over a dist_array: calls of a function at the place of each
// portion that has elements, from which the caller collects the results and the exceptions.
namespace apgas::inline v0::remote {

template <class T>
inline constexpr bool is_dist_array = false;
template <class T>
inline constexpr bool is_dist_array<dist_array<T>> = true;

template <class T>
const array_portion<T>& portion_of(const dist_array<T>& a) {
  return dist_array_access::portion(a);
}

// Throws illegal_operation: the arrays of one call have different distributions or groups.
APGAS_API [[noreturn]] void refuse_distributions(const char* algorithm, const dist_shape& first,
                                                 const dist_shape& second);

template <class T, class U>
void check_same_distribution(const char* algorithm, const dist_array<T>& a,
                             const dist_array<U>& b) {
  const array_portion<T>& first = portion_of(a);
  const array_portion<U>& second = portion_of(b);
  if (first.shape != second.shape || !(first.group == second.group)) {
    refuse_distributions(algorithm, first.shape, second.shape);
  }
}

// Returns the source location at which the algorithm was called.
// Context: a task that results_of_portions or at_portions started.
inline std::source_location call_site() { return scheduler::current_fiber()->task.site; }

// The result of a call at the place of a portion.
template <class R>
struct portion_result {
  std::size_t portion;
  future<R> value;
};

// Waits for all results.
// Throws: multiple_exceptions with everything that the calls threw, after all have ended.
// Context: task; may suspend and resume on another worker.
template <class R>
void wait_for_all(const std::vector<portion_result<R>>& results, std::source_location site) {
  sync::branch_failures failures(site);
  bool failed = false;
  for (const portion_result<R>& each : results) {
    try {
      static_cast<void>(each.value.get());
    } catch (...) {
      failures.add();
      failed = true;
    }
  }
  if (failed) failures.raise();
}

// Calls f(a, args...) at the place of each portion that has elements, waits for all calls, and
// returns their results in the order of the portions.
// Throws: multiple_exceptions with everything that the calls threw, after all have ended.
// Context: task; may suspend and resume on another worker. Cost: one round.
template <class T, class F, class... Args>
auto results_of_portions(const dist_array<T>& a, std::source_location site, const F& f,
                         const Args&... args) {
  const array_portion<T>& here = portion_of(a);
  using call = decltype(async_future_at(here.group[0], f, a, args...));
  using result = std::decay_t<decltype(std::declval<const call&>().get())>;
  std::vector<portion_result<result>> results;
  for (std::size_t p = 0; p < here.shape.portions(); ++p) {
    if (here.shape.size_of(p) == 0) continue;
    results.push_back({p, async_future_at({here.group[p], site}, f, a, args...)});
  }
  wait_for_all(results, site);
  return results;
}

// Calls f(a, args...) at the place of each portion that has elements, and waits for all calls and
// for the tasks that they spawn.
// Throws, Context, Cost: as for results_of_portions.
template <class T, class F, class... Args>
void at_portions(const dist_array<T>& a, std::source_location site, const F& f,
                 const Args&... args) {
  const array_portion<T>& here = portion_of(a);
  finish([&] {
    for (std::size_t p = 0; p < here.shape.portions(); ++p) {
      if (here.shape.size_of(p) != 0) async_at({here.group[p], site}, f, a, args...);
    }
  });
}

}  // namespace apgas::inline v0::remote

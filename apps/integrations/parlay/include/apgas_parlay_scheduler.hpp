// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scheduler of parlaylib on this runtime: the functions that <parlay/parallel.h> declares,
// with its default arguments, and leaves to a scheduler.
//
// A thread outside tasks may call all of them, also before main. What the bodies throw leaves
// parallel_for and par_do as one apgas::multiple_exceptions, after all other iterations and the
// other branch have run.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <apgas/fork_join.hpp>

#include "apgas_parlay_loop.hpp"
#include "apgas_parlay_runtime.hpp"

namespace parlay {

inline std::size_t num_workers() {
  if (apgas::scheduler::on_fiber()) return static_cast<std::size_t>(apgas::num_workers());
  return apgas_parlay::workers_outside_tasks();
}

// The number of the worker that runs the calling task. A thread outside tasks has the number 0,
// as the thread that starts parlaylib's own scheduler.
inline std::size_t worker_id() {
  if (apgas::scheduler::on_fiber()) return static_cast<std::size_t>(apgas::worker_id());
  return 0;
}

// A loop of one iteration, or of no more than `granularity`, is a serial loop of the caller, which
// what an iteration throws leaves at once. So is every loop with `conservative`: the caller may
// hold a lock, and a task that holds a lock must not be suspended.
template <typename F>
inline void parallel_for(std::size_t start, std::size_t end, F&& f, long granularity,
                         bool conservative) {
  static_assert(std::is_invocable_v<F&, std::size_t>);
  if (end <= start) return;
  const std::size_t n = end - start;
  const std::size_t least = granularity > 0 ? static_cast<std::size_t>(granularity) : 0;
  if (n == 1 || n <= least || conservative) {
    for (std::size_t i = start; i < end; ++i) f(i);
  } else {
    apgas_parlay::parallel_loop(start, end, f, least);
  }
}

// With `conservative` the caller runs both functions, as above.
template <typename Lf, typename Rf>
inline void par_do(Lf&& left, Rf&& right, bool conservative) {
  static_assert(std::is_invocable_v<Lf&&>);
  static_assert(std::is_invocable_v<Rf&&>);
  const auto run_left = [&left] { std::forward<Lf>(left)(); };
  const auto run_right = [&right] { std::forward<Rf>(right)(); };
  if (conservative || apgas_parlay::cannot_start()) {
    run_left();
    run_right();
  } else {
    // The caller runs the last branch first.
    apgas_parlay::in_task([&] { apgas::fork_join(run_right, run_left); });
  }
}

template <typename... Fs>
void execute_with_scheduler(Fs...) {
  static_assert(sizeof...(Fs) > sizeof...(Fs) + 1,
                "execute_with_scheduler starts another scheduler of parlaylib's own; on this "
                "runtime the environment chooses the workers: APGAS_WORKERS");
}

}  // namespace parlay

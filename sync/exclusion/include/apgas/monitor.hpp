// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <apgas/sync/critical_section.hpp>
#include <apgas/sync/watched_cell.hpp>

namespace apgas::inline v0 {

template <class T>
class watched;

// atomic and when with a lock of their own. Sections of different monitors do not exclude each
// other, and a section that ends evaluates only the conditions that wait for its own monitor. A
// monitor belongs to its place: it can be neither copied nor moved, nor sent to another. It may be
// made on any thread. X10 and Hoare's monitors. Where many tasks wait at one monitor for different
// things, see watched.hpp.
//
//   apgas::monitor m;
//   int items = 0;                                  // guarded by m
//   apgas::finish([&] {
//     apgas::async([&] { m.when([&] { return items > 0; }, [&] { --items; }); });
//     m.atomic([&] { ++items; });
//   });
//
// Requires, when it is destroyed: no task is inside or waits for it.
class monitor {
 public:
  // Runs f() as a critical section of this monitor and returns its value, as apgas::atomic. f may
  // enter another monitor. Tasks that enter two monitors in opposite orders can deadlock.
  // Throws, Context, Cost: as apgas::atomic.
  template <std::invocable F>
  auto atomic(F f, scheduler::call_site where = scheduler::call_site::current())
      -> std::invoke_result_t<F&> {
    return sync::run_atomic(core_, sync::task_fiber("monitor::atomic"), f, where);
  }

  // Waits until c() is true, then runs f() in a critical section of this monitor, and returns the
  // value of f(), as apgas::when. c() is evaluated whenever a section of this monitor ends.
  // Throws, Context, Cost: as apgas::when.
  template <std::predicate C, std::invocable F>
  auto when(C c, F f, scheduler::call_site where = scheduler::call_site::current())
      -> std::invoke_result_t<F&> {
    return sync::run_when(core_, sync::suspendable_fiber("monitor::when"), c, f, where);
  }

  // The same for a condition that depends on nothing but these cells, which are guarded by this
  // monitor: when(watching(a, b), c, f). c() is evaluated only after one of them was written.
  // Throws: illegal_operation if another monitor guards a cell; otherwise Throws, Context, Cost: as
  // above.
  template <std::size_t N, std::predicate C, std::invocable F>
  auto when(const sync::watched_cells<N>& cells, C c, F f,
            scheduler::call_site where = scheduler::call_site::current())
      -> std::invoke_result_t<F&> {
    scheduler::fiber& self = sync::suspendable_fiber("monitor::when");
    return sync::run_when(core_, self, c, f, where, cells.queues_in(&core_, "monitor::when"));
  }

 private:
  template <class T>
  friend class watched;

  sync::monitor_core core_;
};

}  // namespace apgas::inline v0

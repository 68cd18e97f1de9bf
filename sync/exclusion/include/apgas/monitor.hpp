// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <apgas/sync/critical_section.hpp>

namespace apgas::inline v0 {

// atomic and when with a lock of their own. Sections of different monitors do not exclude each
// other, and a section that ends evaluates only the conditions that wait for its own monitor. A
// monitor belongs to its place: it can be neither copied nor moved, nor sent to another. It may be
// made on any thread. X10 and Hoare's monitors.
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

  // Waits until c() is true and then runs f() in a critical section of this monitor, as
  // apgas::when. c() is evaluated whenever a section of this monitor ends. Throws, Context, Cost:
  // as apgas::when.
  template <std::predicate C, std::invocable F>
  auto when(C c, F f, scheduler::call_site where = scheduler::call_site::current())
      -> std::invoke_result_t<F&> {
    return sync::run_when(core_, sync::suspendable_fiber("monitor::when"), c, f, where);
  }

 private:
  sync::monitor_core core_;
};

}  // namespace apgas::inline v0

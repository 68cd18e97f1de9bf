// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <apgas/sync/place_state.hpp>
#include <apgas/sync/critical_section.hpp>

// Mutual exclusion and waiting for conditions, for all tasks of a place.
namespace apgas::inline v0 {

// Runs f() while no other atomic section of this place runs, and returns its value. Sections may be
// nested. Inside one, every spawn and every operation that may wait throws illegal_operation, even
// if it would not have waited; only further atomic sections may be entered.
//
// Throws: illegal_operation outside a task; what f throws, after the section was left.
// Context: task. May suspend and resume elsewhere: while another section runs, at whose end f is
// run by the task of that one. Cost: about 12 ns when no other section runs.
template <std::invocable F>
auto atomic(F f) -> std::invoke_result_t<F&> {
  scheduler::fiber& self = sync::task_fiber("atomic");
  return sync::run_atomic(sync::place_of(self).atomic_sections, self, f);
}

// Waits until c() is true, then runs f() in the same atomic section and returns its value. c() is
// called inside atomic sections, by this task and, whenever a section of the place ends, by the
// task that ends it; it must change nothing. Of several tasks whose conditions are true, who waits
// longest is first.
//
// Throws: illegal_operation outside a task and inside an atomic section; what c or f throws.
// Context: task. May suspend and resume elsewhere.
// Cost: about 15 ns when c() is true at once; every section of the place tests all that wait.
template <std::predicate C, std::invocable F>
auto when(C c, F f) -> std::invoke_result_t<F&> {
  scheduler::fiber& self = sync::suspendable_fiber("when");
  return sync::run_when(sync::place_of(self).atomic_sections, self, c, f);
}

}  // namespace apgas::inline v0

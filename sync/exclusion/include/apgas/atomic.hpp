// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <apgas/sync/critical_section.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/watched_cell.hpp>

// Mutual exclusion and conditions for all tasks of a place. A monitor (monitor.hpp) gives the same
// to a part of the program without making it compete with the rest.
//
//   int balance = 0;
//   apgas::finish([&] {
//     apgas::async([&] { apgas::when([&] { return balance >= 100; }, [&] { balance -= 100; }); });
//     apgas::atomic([&] { balance += 100; });
//   });
namespace apgas::inline v0 {

// Runs f() as a critical section: no other atomic or when section of this place runs meanwhile.
// A section sees everything that the tasks of earlier sections wrote. Returns the value of f(),
// which must not be a reference. Sections may be nested, also in sections of monitors. Inside a
// section, every spawn and every other operation that may suspend throws illegal_operation, even if
// it would not have suspended. X10's atomic.
//
// Throws: illegal_operation outside a task; what f throws, after the section has been left.
// Context: task. May suspend and resume on another worker if another section is running. In that
// case the task that leaves the other section may run f, with the name and the registrations of
// this task. Cost: about 6 ns if no other section is running.
template <std::invocable F>
auto atomic(F f, scheduler::call_site where = scheduler::call_site::current())
    -> std::invoke_result_t<F&> {
  scheduler::fiber& self = sync::task_fiber("atomic");
  return sync::run_atomic(sync::place_of(self).atomic_sections, self, f, where);
}

// Waits until c() is true, then runs f() in the same critical section, and returns the value of
// f(). c() is evaluated inside critical sections: by this task at once, and later by every task
// that leaves a section of the place. It must have no side effects. Among tasks whose conditions
// are true, the one that has waited longest proceeds first. X10's when.
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`; what c or f throws.
// Context: task. May suspend and resume on another worker. Another task may run f, as for atomic.
// Cost: about 6 ns if c() is true at once. While tasks wait, every section of the place that ends
// evaluates their conditions.
template <std::predicate C, std::invocable F>
auto when(C c, F f, scheduler::call_site where = scheduler::call_site::current())
    -> std::invoke_result_t<F&> {
  scheduler::fiber& self = sync::suspendable_fiber("when");
  return sync::run_when(sync::place_of(self).atomic_sections, self, c, f, where);
}

// The same for a condition that depends on nothing but these cells (watched.hpp), which were made
// without a monitor: when(watching(a, b), c, f). c() is evaluated only after one of them was
// written. Throws: illegal_operation if a monitor guards a cell; otherwise Throws, Context, Cost:
// as above.
template <std::size_t N, std::predicate C, std::invocable F>
auto when(const sync::watched_cells<N>& cells, C c, F f,
          scheduler::call_site where = scheduler::call_site::current())
    -> std::invoke_result_t<F&> {
  scheduler::fiber& self = sync::suspendable_fiber("when");
  return sync::run_when(sync::place_of(self).atomic_sections, self, c, f, where,
                        cells.queues_in(nullptr, "when"));
}

// A call with a value as condition does not compile, and one sentence of the compiler says why.
template <class C, class F>
  requires(!std::predicate<C>)
auto when(C, F) {
  static_assert(std::predicate<C>,
                "apgas: the condition of when must be a function, which is called again after each "
                "critical section: when([&] { return n > 0; }, f)");
}

}  // namespace apgas::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/finish.hpp>
#include <apgas/registered_async.hpp>

// Clocks: tasks in lock-step, as in X10, with the eager and lazy waiting of uClocks.
namespace apgas::inline v0 {

// A handle of a clock: a value that may be copied, captured and sent; copying registers nothing. A
// task takes part in the phases of a clock while it is registered: from make(), or from its spawn
// with clocked(c), until it drops the clock or ends. A phase is complete when all registered tasks
// have resumed; tasks may come and go at any time.
//
// Every operation throws clock_use_error when the calling task is not registered, and
// illegal_operation outside a task. A task looks its clocks up one by one, the newest first: it is
// meant to have few.
//
// Eager and lazy say how this task waits; others do not notice. Lazy: it leaves its worker at once.
// Eager: while its worker has nothing else ready it first spins for a while, which saves the switch
// where tasks are as many as workers and phases are short.
class clock {
 public:
  // An empty handle.
  clock() = default;

  // A new clock in phase 0, on which the calling task is registered.
  // Context: task; not inside an atomic section. Cost: some allocations.
  static clock make();

  // The calling task has finished its phase: the others need not wait for it. Once per phase; more
  // has no effect. Context: task; does not suspend.
  void resume() const;
  void resume_eager() const { resume(); }
  void resume_lazy() const { resume(); }

  // Resumes, if that was not done, and waits until all have.
  // Context: task; not inside an atomic section. May suspend and resume elsewhere.
  void advance() const { advance_lazy(); }
  void advance_lazy() const;
  void advance_eager() const;

  // The calling task takes part no more. Context: task; does not suspend.
  void drop() const;

  bool registered() const;
  bool dropped() const { return !registered(); }

  // The phase that the calling task is in: from 0, one more with each advance of its own.
  std::int64_t phase() const;

  // The same for every clock of the task, that of a clocked_finish included. All are resumed before
  // the first is waited for, so tasks with several clocks do not wait for each other in a circle.
  static void resume_all();
  static void resume_all_eager() { resume_all(); }
  static void resume_all_lazy() { resume_all(); }
  static void advance_all() { advance_all_lazy(); }
  static void advance_all_lazy();
  static void advance_all_eager();

  bool operator==(const clock&) const = default;

 private:
  friend struct clock_access;
  explicit clock(const sync::phase_id& id) noexcept : id_(id) {}

  sync::phase_id id_;
};

struct clock_access {
  static const sync::phase_id& id(const clock& c) noexcept { return c.id_; }
  // The clock of the innermost clocked_finish. Throws: clock_use_error.
  static sync::registration& implicit(const scheduler::fiber& self, const char* operation);
  static void make_implicit();
};

// For async and async_future: the child is registered on the clocks, in the phase that its spawner
// is in and resumed if that has resumed, before it can run. They must have been acquired inside the
// innermost finish, which would otherwise wait for a child that waits for its spawner.
template <std::size_t N>
struct clocked_clause : sync::clause_of_size<N> {
  std::array<clock, N> clocks;

  template <class F>
  void for_each(scheduler::fiber& self, const char* operation, F f) const {
    for (const clock& c : clocks) {
      sync::registration& r =
          sync::registration_of(self, clock_access::id(c), sync::phase_kind::clock, operation);
      f(r, r.mode);
    }
  }
};

template <std::same_as<clock>... C>
clocked_clause<sizeof...(C)> clocked(C... c) {
  return {{}, {c...}};
}

// The clock of the innermost clocked_finish, for clocked_async.
struct implicit_clause : sync::clause_of_size<1> {
  template <class F>
  static void for_each(scheduler::fiber& self, const char* operation, F f) {
    f(clock_access::implicit(self, operation), phaser_mode::signal_wait);
  }
};

// A finish with a clock of its own, on which its body's task is registered until the body ends, and
// every task that it spawns by clocked_async until that ends. clock::advance_all() advances it.
// Throws and returns as finish.
template <class F>
auto clocked_finish(F&& body) -> std::invoke_result_t<F> {
  sync::suspendable_fiber("clocked_finish");  // or finish would complain
  return finish([&]() -> std::invoke_result_t<F> {
    clock_access::make_implicit();
    return std::invoke(std::forward<F>(body));
  });
}

// Throws: clock_use_error when no clocked_finish is the innermost finish; as async.
template <std::invocable F>
void clocked_async(F&& f, std::source_location site = std::source_location::current()) {
  sync::async_registered("clocked_async", implicit_clause(), std::forward<F>(f), site);
}
template <std::invocable F>
void clocked_async(name n, F&& f, std::source_location site = std::source_location::current()) {
  sync::async_registered("clocked_async", n, implicit_clause(), std::forward<F>(f), site);
}

}  // namespace apgas::inline v0

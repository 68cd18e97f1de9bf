// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/async.hpp>
#include <apgas/future.hpp>
#include <apgas/registered_async.hpp>
#include <apgas/sync/coroutine_start.hpp>
#include <apgas/sync/phase_event.hpp>
#include <apgas/sync/task_promise.hpp>

// Coroutines of C++20 as tasks: a task<T> waits without keeping a stack. apgas.hpp explains the
// words of the contracts.
//
//   apgas::task<long> fib(int n) {
//     if (n < 2) co_return n;
//     const apgas::future<long> left = apgas::async_future(fib(n - 1));  // runs in parallel
//     const long right = co_await fib(n - 2);                            // runs in this task
//     co_return right + co_await left;
//   }
//   const long result = apgas::sync_wait(fib(20));                       // in a plain task
//
// finish_awaitable.hpp has the finish for coroutines, clock.hpp advance_awaitable, at_awaitable.hpp
// calls to other places.
namespace apgas::inline v0 {

// A coroutine that will return a T, which may be a value, an lvalue reference or void. A function
// whose body contains co_await or co_return, and which returns a task<T>, is a coroutine. A call
// makes a frame for it and runs none of its code. The coroutine runs, once, in one of these ways:
//
//   co_await t       in another task<T>: as part of the same task of the runtime, and the awaiting
//                    coroutine continues with the value or the exception
//   async(t)         as a task of the innermost finish, which gets its exception
//   async_future(t)  the same with a future, which gets value or exception
//   sync_wait(t)     in a plain task, as part of it, which waits for the value
//
// Each of them takes the coroutine out of t. A task that still owns its coroutine destroys it,
// without having run it. Handles can be moved but not copied, and belong to their place.
//
// In the coroutine, everything works that works in other tasks. While it awaits, its task lasts:
// its finish waits for it, it stays registered on its clocks and phasers, and keeps its task_local
// values and its name. It may resume on another worker of the same place, so co_await is a
// suspension point like any other. If the task was started by async or async_future, it holds no
// fiber and no stack while it awaits a future, a finish, a clock or a call to another place. A call
// that waits without co_await, for example future::get, suspends the fiber on which the coroutine
// runs, as in any task.
//
//   apgas::task<> halve = relax(cells[0]);  // a coroutine; none of its code has run
//   assert(halve.valid());
//   apgas::async(std::move(halve));         // runs it as a task
//   assert(!halve.valid());
//
// What coroutines take by reference must outlive them. In particular, the captures of a lambda that
// is a coroutine live in the closure: pass the closure itself to async or async_future, which keep
// it, and do not call it.
//
// Cost: one allocation for the frame of a coroutine, whose size is chosen by the compiler. Awaiting
// another task needs no other one, however long the chain of awaiting coroutines is, and its stack
// does not grow with the chain.
template <class T = void>
class [[nodiscard]] task {
  static_assert(!std::is_rvalue_reference_v<T> && !std::is_array_v<T> &&
                    std::is_same_v<T, std::remove_cv_t<T>>,
                "apgas: a task is of a type without const, an lvalue reference or void");

 public:
  using value_type = T;
  using promise_type = sync::task_promise<T>;

  // Makes an empty task. Starting or awaiting it throws illegal_operation. Context: any thread.
  task() = default;
  // Returns whether the task has a coroutine. It has none if it was moved from, started or awaited.
  // Context: any thread.
  bool valid() const noexcept { return static_cast<bool>(frame_); }

 private:
  friend struct sync::task_access;
  friend promise_type;
  explicit task(sync::coroutine_frame<T> frame) noexcept : frame_(std::move(frame)) {}

  sync::coroutine_frame<T> frame_;
};

template <class T>
inline constexpr bool comm::bound_to_place<task<T>> = true;

namespace sync {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>(coroutine_frame<T>(coroutine_frame<T>::handle::from_promise(*this)));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>(coroutine_frame<void>(coroutine_frame<void>::handle::from_promise(*this)));
}

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// A closure whose call makes a task: a lambda that is a coroutine, or one that calls a coroutine.
template <class F>
concept makes_task = std::invocable<F> && is_task<std::invoke_result_t<F>>;

// Keeps the closure for as long as its coroutine runs.
template <class F>
auto keep_closure(F f) -> std::invoke_result_t<F&> {
  co_return co_await f();
}

}  // namespace sync

// Starts the coroutine as a child task of the innermost enclosing finish, as async(f) does for a
// function. Its value is discarded, and what leaves it goes to the finish. With a clause it is
// registered on clocks and phasers before it can run (registered_async.hpp). A closure that returns
// a task is called in the child and kept until its coroutine has ended.
// Throws: illegal_operation if t is empty, outside a task and inside `atomic` or `when`; as async
// with a clause; std::bad_alloc. There is no task then.
// Context: task. A suspension point, as async. Cost: that of async, and one allocation.
template <class T>
void async(name n, task<T> t, std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async");
  sync::start_coroutine(self, sync::task_access::take(t, "async"), n.text, site);
}
template <class T>
void async(task<T> t, std::source_location site = std::source_location::current()) {
  async(name(nullptr), std::move(t), site);
}
template <sync::registration_clause C, class T>
void async(const C& clause, task<T> t,
           std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async");
  sync::start_registered_coroutine(self, clause, sync::task_access::take(t, "async"), site);
}
template <sync::makes_task F>
void async(F&& f, std::source_location site = std::source_location::current()) {
  async(sync::keep_closure(std::decay_t<F>(std::forward<F>(f))), site);
}
template <sync::makes_task F>
void async(name n, F&& f, std::source_location site = std::source_location::current()) {
  async(n, sync::keep_closure(std::decay_t<F>(std::forward<F>(f))), site);
}
template <sync::registration_clause C, sync::makes_task F>
void async(const C& clause, F&& f, std::source_location site = std::source_location::current()) {
  async(clause, sync::keep_closure(std::decay_t<F>(std::forward<F>(f))), site);
}

// The same, but returns a future of the value. If an exception leaves the coroutine, it goes to the
// future and not to the finish. This is how a plain task, or a coroutine of another library, waits
// for a task<T>.
// Throws, Context: as async. Cost: that of async, and one allocation for future and task together.
template <class T>
future<T> async_future(name n, task<T> t,
                       std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_future");
  return sync::future_access::make(sync::start_coroutine_with_future(
      self, sync::task_access::take(t, "async_future"), n.text, site));
}
template <class T>
future<T> async_future(task<T> t, std::source_location site = std::source_location::current()) {
  return async_future(name(nullptr), std::move(t), site);
}
template <sync::registration_clause C, class T>
future<T> async_future(const C& clause, task<T> t,
                       std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_future");
  return sync::future_access::make(sync::start_registered_coroutine_with_future(
      self, clause, sync::task_access::take(t, "async_future"), site));
}
template <sync::makes_task F>
auto async_future(F&& f, std::source_location site = std::source_location::current()) {
  return async_future(sync::keep_closure(std::decay_t<F>(std::forward<F>(f))), site);
}
template <sync::makes_task F>
auto async_future(name n, F&& f, std::source_location site = std::source_location::current()) {
  return async_future(n, sync::keep_closure(std::decay_t<F>(std::forward<F>(f))), site);
}
template <sync::registration_clause C, sync::makes_task F>
auto async_future(const C& clause, F&& f,
                  std::source_location site = std::source_location::current()) {
  return async_future(clause, sync::keep_closure(std::decay_t<F>(std::forward<F>(f))), site);
}

// Runs the coroutine in the calling task, waits for its end, and returns its value or throws what
// left it (cppcoro's and stdexec's sync_wait). The coroutine has the finish, the registrations and
// the task_local values of the caller, whose fiber is suspended while the coroutine awaits.
// Throws: illegal_operation if t is empty, outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: no allocation, and as much as a call of a function through a pointer.
template <class T>
T sync_wait(task<T> t) {
  sync::suspendable_fiber("sync_wait");
  const sync::coroutine_frame<T> frame = sync::task_access::take(t, "sync_wait");
  sync::awaited_coroutine runner;
  frame.promise().begin(runner, nullptr);
  runner.continue_with(frame.get());
  runner.run();
  return frame.promise().take();
}

}  // namespace apgas::inline v0

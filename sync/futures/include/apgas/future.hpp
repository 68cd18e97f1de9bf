// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <utility>

#include <apgas/async.hpp>
#include <apgas/promise.hpp>
#include <apgas/sync/future_handle.hpp>
#include <apgas/sync/spawn_from.hpp>
#include <apgas/when_all.hpp>

// Futures: tasks whose result other tasks can wait for. The handle itself, with get(), wait() and
// then(), is class future in sync/future_handle.hpp.
//
//   const apgas::future<int> answer = apgas::async_future([] { return compute(); });
//   prepare();
//   use(answer.get());  // suspends until the task has returned
namespace apgas::inline v0 {

// Spawns f() as a child task of the innermost enclosing finish, as async does, and returns a future
// of what f returns. If f throws, the exception goes to the future and not to the finish. The
// future is ready when the body of the task has ended; tasks that the body spawned may still run.
// Without a name, reports show the spawn site only. Habanero's future, X10's Future.
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`; what copying or moving f
// throws; std::bad_alloc.
// Context: task. A suspension point: when very many children are waiting to run, some of them run
// first, so the caller may suspend and resume on another worker.
// Cost: about 30 ns, most of it for the one allocation.
template <std::invocable F>
auto async_future(name n, F&& f, std::source_location site = std::source_location::current())
    -> future<sync::future_value<std::decay_t<F>>> {
  scheduler::fiber& self = sync::suspendable_fiber("async_future");
  auto made = sync::make_task_with_future(std::forward<F>(f));
  std::move(made.body).spawn(self, n.text, site);
  return sync::future_access::make(std::move(made.state));
}

// The same for a task without a name.
template <std::invocable F>
auto async_future(F&& f, std::source_location site = std::source_location::current()) {
  return async_future(name(nullptr), std::forward<F>(f), site);
}

// Runs f() as a task, optionally with a name, once all `futures` are ready, whether with a value or
// with an exception, so that get() in f does not wait. The task belongs to the caller's finish from
// this call on, so the finish does not end before f has run. What f throws goes to the finish. With
// no futures, f starts at once. Habanero's asyncAwait.
//
//   const auto left = apgas::async_future([] { return compute(); });
//   const auto right = apgas::async_future([] { return measure(); });
//   apgas::async_await([=] { use(left.get() + right.get()); }, left, right);
//
// Throws: illegal_operation outside a task, inside `atomic` or `when` and for an empty handle;
// std::bad_alloc.
// Context: task. A suspension point if all futures are ready already, as async; otherwise it does
// not suspend.
// Cost: one allocation if all futures are ready already, otherwise three and a short lock for each.
template <class... T>
void async_await(name n, sync::spawn_from<sync::task_body> f, const future<T>&... futures) {
  scheduler::fiber& self = sync::suspendable_fiber("async_await");
  sync::future_core* const awaited[] = {&sync::future_access::state(futures, "async_await")...,
                                        nullptr};
  sync::spawn_when_ready(self, {awaited, sizeof...(T)}, std::move(f.value), n.text, f.site);
}

// The same for a task without a name.
template <class... T>
void async_await(sync::spawn_from<sync::task_body> f, const future<T>&... futures) {
  async_await(name(nullptr), std::move(f), futures...);
}

}  // namespace apgas::inline v0

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

// Futures: values that tasks compute.
namespace apgas::inline v0 {

// Spawns f() as a child task of the innermost enclosing finish, as async does, and returns the
// future of what it returns or throws. The future is ready when the body of the task has ended;
// tasks that the body spawned may still run.
//
// Throws: illegal_operation outside a task and inside an atomic section; what copying f throws.
// Context: task. May suspend and resume elsewhere: when very many children wait, some run first.
// Cost: about 30 ns, most of it the one allocation.
template <std::invocable F>
auto async_future(name n, F&& f, std::source_location site = std::source_location::current())
    -> future<sync::future_value<std::decay_t<F>>> {
  scheduler::fiber& self = sync::suspendable_fiber("async_future");
  auto made = sync::promise_of(std::forward<F>(f));
  std::move(made.body).spawn(self, n.text, site);
  return sync::future_access::make(std::move(made.state));
}

template <std::invocable F>
auto async_future(F&& f, std::source_location site = std::source_location::current()) {
  return async_future(name(nullptr), std::forward<F>(f), site);
}

// Runs f() as a task of the caller's finish, which it keeps open from now on, when all futures are
// ready, failed ones included: get() in f does not wait. What f throws goes to the finish.
// Context: task that may spawn.
template <class... T>
void async_await(name n, sync::spawn_from<sync::task_body> f, const future<T>&... futures) {
  scheduler::fiber& self = sync::suspendable_fiber("async_await");
  sync::future_core* const awaited[] = {&sync::future_access::state(futures, "async_await")...,
                                        nullptr};
  sync::spawn_when_ready(self, {awaited, sizeof...(T)}, std::move(f.value), n.text, f.site);
}

template <class... T>
void async_await(sync::spawn_from<sync::task_body> f, const future<T>&... futures) {
  async_await(name(nullptr), std::move(f), futures...);
}

}  // namespace apgas::inline v0

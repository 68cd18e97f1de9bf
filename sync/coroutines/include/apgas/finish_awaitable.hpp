// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/coroutine.hpp>
#include <apgas/sync/finish_scope.hpp>

// The finish of a coroutine, which waits without a stack.
//
//   apgas::task<> update() {
//     co_await apgas::finish_awaitable([] { for (auto& c : cells) apgas::async(relax(c)); });
//     co_await apgas::finish_awaitable(write_all());   // the body is a coroutine as well
//   }
//   apgas::async(update());
namespace apgas::inline v0 {

namespace sync {

template <class Body>
struct finish_body_result {
  using type = std::invoke_result_t<Body&>;
};
template <makes_task Body>
struct finish_body_result<Body> {
  using type = typename std::invoke_result_t<Body&>::value_type;
};

// Runs the body in a finish. It is a coroutine, whose frame holds the scope of the finish.
template <class Body>
auto finish_coroutine(Body body, scheduler::call_site where)
    -> task<typename finish_body_result<Body>::type> {
  using result = typename finish_body_result<Body>::type;
  static_assert(!std::is_reference_v<result>,
                "apgas: the body of a finish returns a reference, to an object that may end with "
                "the finish; return a value");
  finish_scope scope(where);
  if constexpr (std::is_void_v<result>) {
    try {
      if constexpr (makes_task<Body>) {
        co_await body();
      } else {
        body();
      }
    } catch (...) {
      finish_scope::failed();
    }
    co_await scope;
  } else {
    std::optional<result> value;
    try {
      if constexpr (makes_task<Body>) {
        value.emplace(co_await body());
      } else {
        value.emplace(body());
      }
    } catch (...) {
      finish_scope::failed();
    }
    co_await scope;
    co_return *std::move(value);
  }
}

}  // namespace sync

// Returns a task that runs body(), and then waits until all tasks have ended that it spawned, at
// any place, and those that these spawned in turn. `body` is a function or a coroutine; if it is a
// coroutine, tasks that it spawns after a co_await belong to the finish as well. The task returns
// the value of the body. Awaiting it is finish (finish.hpp) for coroutines: the coroutine holds no
// fiber while it waits. Clocks and phasers that the coroutine makes in the body are dropped when
// the body ends.
//
// Throws, where it is awaited: as finish.
// Context: task, where it is awaited. May resume on another worker.
// Cost: one allocation, and otherwise that of a finish, if no other worker steals a task.
template <std::invocable Body>
auto finish_awaitable(Body body, scheduler::call_site where = scheduler::call_site::current()) {
  return sync::finish_coroutine(std::move(body), where);
}
// The same for a coroutine that was made already.
template <class T>
task<T> finish_awaitable(task<T> body,
                         scheduler::call_site where = scheduler::call_site::current()) {
  return sync::finish_coroutine([body = std::move(body)]() mutable { return std::move(body); },
                                where);
}

}  // namespace apgas::inline v0

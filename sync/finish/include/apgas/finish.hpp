// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/exceptions.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/task.hpp>

// Waiting for all tasks of a part of the program, wherever they run.
//
//   apgas::finish([&] {
//     for (apgas::place p : apgas::places()) apgas::async_at(p, work, seed);
//   });
//   // All tasks have ended, at all places, with the tasks that they spawned.
namespace apgas::inline v0 {

// Runs body() and waits for every task spawned in it: by the body, by those tasks in turn, and at
// any place. Returns what body returns, which must not be a reference. finish always waits for all
// tasks before it throws. X10's finish, Habanero's finish.
//
// Throws: multiple_exceptions with all exceptions that left the tasks and the body, if there are
// any; illegal_operation outside a task and inside an atomic section.
// Context: task. May suspend and resume elsewhere.
// Cost: about 3 ns if no task was stolen; then the tasks run on this stack. In a finish over
// several places, each place sends one return message whenever its last task has ended; see
// docs/protocols/finish.md.
template <class F>
[[gnu::always_inline]] inline auto finish(F&& body) -> std::invoke_result_t<F> {
  using result = std::invoke_result_t<F>;
  scheduler::fiber& self = sync::suspendable_fiber("finish");
  sync::finish_frame frame(self);
  if constexpr (std::is_void_v<result>) {
    try {
      std::invoke(std::forward<F>(body));
    } catch (...) {
      sync::task_failed(self);
    }
    frame.end();
  } else if constexpr (std::is_reference_v<result>) {
    static_assert(!std::is_reference_v<result>,
                  "apgas: the body of a finish returns a reference, to an object that may end with "
                  "the finish; return a value: finish([&]() -> T { ... })");
  } else {
    std::optional<result> value;
    try {
      value.emplace(std::invoke(std::forward<F>(body)));
    } catch (...) {
      sync::task_failed(self);
    }
    frame.end();
    return *std::move(value);
  }
}

// A call with anything but a function does not compile, and one sentence of the compiler says why.
template <class F>
  requires(!std::invocable<F>)
auto finish(F&&) {
  static_assert(std::invocable<F>,
                "apgas: finish takes a function without parameters: finish([&] { ... })");
}

}  // namespace apgas::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// any; illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
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
  } else {
    static_assert(!std::is_reference_v<result>,
                  "the body of a finish returns by value: what it refers to may end with it");
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

}  // namespace apgas::inline v0

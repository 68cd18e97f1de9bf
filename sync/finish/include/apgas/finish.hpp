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

// Waiting for all tasks of a part of the program, at whatever place they run. apgas.hpp explains
// the words of the contracts.
//
//   apgas::finish([] {
//     for (apgas::place each : apgas::places()) {
//       apgas::async_at(each, [](int i) { work(i); }, 7);
//     }
//   });
//   // All tasks have ended, at all places, and so have the tasks that they spawned.
//   const long total = apgas::finish([] { return count(); });  // the value of the body
namespace apgas::inline v0 {

// Runs body() in the calling task, and then waits until all tasks have ended that the body spawned,
// at any place, and all tasks that those spawned in turn. Tasks of an inner finish count as well,
// since the inner finish waits for them. Tasks of uncounted_async_at do not. After finish has
// returned, the caller sees everything that the tasks wrote.
//
// Returns the value of body(), which must not be a reference. Clocks and phasers that the calling
// task made in the body are dropped when the body ends, however it ends, before finish waits. X10's
// and Habanero's finish.
//
// Throws:
//   - multiple_exceptions if one exception or several left the body or the tasks. finish waits for
//     all tasks before it throws. An inner multiple_exceptions is replaced by its elements.
//     Exceptions of tasks at other places are created again here, if their type permits that
//     (exception_types.hpp).
//   - illegal_operation outside a task, and inside `atomic` or `when`. The body was not run then.
// Context: task. May suspend and resume on another worker.
// Cost: about 3 ns if no other worker steals a task; the tasks then run one after the other on the
// stack of the caller. With tasks at other places, each such place sends one message back whenever
// the last of its tasks of this finish has ended, and none for each task. This *return message*
// says that nothing of the finish is left there, and contains the exceptions of its tasks
// (docs/protocols/finish.md).
template <class F>
[[gnu::always_inline]] inline auto finish(
    F&& body, scheduler::call_site where = scheduler::call_site::current())
    -> std::invoke_result_t<F> {
  using result = std::invoke_result_t<F>;
  scheduler::fiber& self = sync::suspendable_fiber("finish");
  sync::finish_frame frame(self);
  if constexpr (std::is_void_v<result>) {
    try {
      std::invoke(std::forward<F>(body));
    } catch (...) {
      sync::task_failed(self);
    }
    frame.end(where);
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
    frame.end(where);
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

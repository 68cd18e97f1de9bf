// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/exceptions.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/task.hpp>

// Waiting for tasks.
namespace apgas::inline v0 {

// Runs body() and waits for every task spawned in it, transitively and at every place; returns what
// body returns.
//
// Throws: multiple_exceptions with everything that the tasks and the body threw, after all ended.
// Context: task; not inside an atomic section. May suspend and resume elsewhere.
// Cost: about 3 ns; the tasks nobody stole run on this stack.
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

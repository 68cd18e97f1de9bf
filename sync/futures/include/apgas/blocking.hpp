// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/task.hpp>

// Calls of foreign code that blocks its thread.
namespace apgas::inline v0 {

namespace sync {

// Runs run(call) on a helper thread and suspends the task until it has returned.
// Context: task that may suspend; may resume on another worker.
APGAS_API void run_blocking(scheduler::fiber& self, void (*run)(void*) noexcept, void* call,
                            const scheduler::call_site& where);

}  // namespace sync

// Runs f() on a helper thread, which may block, and returns what f returns. Use it for input and
// output, for locks of a library, and for anything else that would keep a worker from other tasks.
// The task is suspended meanwhile and its worker runs other tasks. On the helper thread f is
// outside any task, so operations that need one throw illegal_operation there.
//
//   const std::string text = apgas::blocking([] { return read_file("points.csv"); });
//
// Throws: what f throws; illegal_operation outside a task and inside `atomic` or `when`;
// std::system_error if a new helper thread is needed and cannot be created.
// Context: task. May suspend and resume on another worker.
// Cost: some 10 us, for two wake-ups of threads.
template <std::invocable F>
auto blocking(F&& f, scheduler::call_site where = scheduler::call_site::current())
    -> std::invoke_result_t<F> {
  using result = std::invoke_result_t<F>;
  scheduler::fiber& self = sync::suspendable_fiber("blocking");
  struct {
    std::remove_reference_t<F>& body;
    std::optional<sync::kept_value<result>> value;
    std::exception_ptr error;
  } call{f, {}, {}};
  sync::run_blocking(
      self,
      [](void* of) noexcept {
        auto& c = *static_cast<decltype(call)*>(of);
        try {
          if constexpr (std::is_void_v<result>) {
            std::invoke(std::forward<F>(c.body));
          } else if constexpr (std::is_reference_v<result>) {
            auto&& there = std::invoke(std::forward<F>(c.body));
            c.value.emplace(std::addressof(there));
          } else {
            c.value.emplace(std::invoke(std::forward<F>(c.body)));
          }
        } catch (...) {
          c.error = std::current_exception();
        }
      },
      &call, where);
  if (call.error != nullptr) std::rethrow_exception(std::move(call.error));
  if constexpr (std::is_reference_v<result>) {
    return static_cast<result>(**call.value);
  } else if constexpr (!std::is_void_v<result>) {
    return *std::move(call.value);
  }
}

}  // namespace apgas::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/sync/future_state.hpp>
#include <apgas/sync/task.hpp>

// Calls into foreign code that blocks its thread.
namespace apgas::inline v0 {

namespace sync {

// Runs run(call) on a helper thread and suspends the task meanwhile. Context: task that may
// suspend.
void run_blocking(scheduler::fiber& self, void (*run)(void*) noexcept, void* call);

}  // namespace sync

// Runs f() on a thread that may block (input and output, a lock, a library), and returns what it
// returns. The task is suspended meanwhile, its worker goes on with others. f runs outside tasks:
// what needs one throws illegal_operation there.
//
// Throws: what f throws; illegal_operation outside a task and inside an atomic section;
// std::system_error when a thread is needed and there is none to be had.
// Context: task. May suspend and resume elsewhere. Cost: some 10 us, two wake-ups of threads.
template <std::invocable F>
auto blocking(F&& f) -> std::invoke_result_t<F> {
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
      &call);
  if (call.error != nullptr) std::rethrow_exception(std::move(call.error));
  if constexpr (std::is_reference_v<result>) {
    return static_cast<result>(**call.value);
  } else if constexpr (!std::is_void_v<result>) {
    return *std::move(call.value);
  }
}

}  // namespace apgas::inline v0

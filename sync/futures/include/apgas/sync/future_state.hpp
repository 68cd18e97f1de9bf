// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/future_core.hpp>
#include <apgas/sync/task_body.hpp>

// The shared state of a future with its value, and the one of a task that sets its future.
namespace apgas::inline v0::sync {

// What a future of T keeps: void as a value, a reference as a pointer.
template <class T>
using kept_value = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, std::remove_cv_t<T>>>;

template <class T>
class future_state : public future_core {
 public:
  // By the setter, before publish_value(). Throws: what the constructor throws.
  template <class... Args>
  kept_value<T>& emplace(Args&&... args) {
    return value_.emplace(std::forward<Args>(args)...);
  }
  // The value is what f returns.
  template <class F>
  void emplace_from(F& f) {
    if constexpr (std::is_void_v<T>) {
      std::invoke(f);
      value_.emplace();
    } else if constexpr (std::is_reference_v<T>) {
      value_.emplace(std::addressof(std::invoke(f)));
    } else {
      value_.emplace(std::invoke(f));
    }
  }

  // Requires: the caller saw has_value().
  const kept_value<T>& value() const noexcept { return *value_; }

 private:
  std::optional<kept_value<T>> value_;
};

// Takes the exception being handled for the future of the running task. Context: a catch block.
void publish_caught(future_core& future, scheduler::fiber& self) noexcept;

// A future and the task that sets it, in one allocation.
template <class T, class F>
class future_task final : public future_state<T> {
 public:
  template <class G>
  explicit future_task(std::in_place_t, G&& body) : body_(std::forward<G>(body)) {}

  // Runs the task and gives its reference up. The future is set before the children of the task are
  // run, and after the closure is gone: who waits sees what its destructors did.
  static void run(void* task) {
    const auto self = ref<future_task>::adopt(static_cast<future_task*>(task));
    try {
      self->emplace_from(*self->body_);
    } catch (...) {
      self->body_.reset();
      publish_caught(*self, *scheduler::current_fiber());
      return;
    }
    self->body_.reset();
    self->publish_value();
  }
  static void discard(void* task) noexcept { static_cast<future_task*>(task)->drop(); }

 private:
  std::optional<F> body_;
};

// The future of what a closure returns when called with Args.
template <class F, class... Args>
using future_value =
    std::conditional_t<std::is_rvalue_reference_v<std::invoke_result_t<F&, Args...>>,
                       std::remove_cvref_t<std::invoke_result_t<F&, Args...>>,
                       std::remove_cv_t<std::invoke_result_t<F&, Args...>>>;

// The parts of a task with a future: the state for the handle, and what to spawn.
template <class T>
struct promised {
  ref<future_state<T>> state;
  task_body body;
};

template <class F>
auto promise_of(F&& f) -> promised<future_value<std::decay_t<F>>> {
  using value = future_value<std::decay_t<F>>;
  using task = future_task<value, std::decay_t<F>>;
  auto* made = new task(std::in_place, std::forward<F>(f));
  return {ref<future_state<value>>::share(made), task_body(&task::run, &task::discard, made)};
}

}  // namespace apgas::inline v0::sync

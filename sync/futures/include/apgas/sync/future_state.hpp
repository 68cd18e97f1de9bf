// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/future_core.hpp>
#include <apgas/sync/task_body.hpp>

// The state that the handles of a future share, with its value, and the state of a future which a
// task sets.
namespace apgas::inline v0::sync {

// What a future of T stores: std::monostate for void, a pointer for a reference, otherwise a T.
template <class T>
using kept_value = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, std::remove_cv_t<T>>>;

template <class T>
class future_state : public future_core {
 public:
  using future_core::future_core;

  // Constructs the value. Throws: what the constructor throws. Context: the setter, before
  // publish_value().
  template <class... Args>
  kept_value<T>& emplace(Args&&... args) {
    return value_.emplace(std::forward<Args>(args)...);
  }
  // Stores what f returns as the value. Throws: what f throws. Context: as emplace().
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

  // Returns the value. Requires: the caller has seen has_value().
  const kept_value<T>& value() const noexcept { return *value_; }
  // Moves the value out. Requires: the same, and nobody else uses the value.
  kept_value<T> take_value() { return *std::move(value_); }

 private:
  std::optional<kept_value<T>> value_;
};

// Publishes the exception that is being handled as the failure of `future`, with the place and the
// spawn site of the running task. Context: a catch block.
APGAS_API void publish_caught(future_core& future, scheduler::fiber& self) noexcept;

// A future together with the task that sets it, in one allocation.
template <class T, class F>
class future_task final : public future_state<T> {
 public:
  template <class G>
  explicit future_task(std::in_place_t, G&& body) : body_(std::forward<G>(body)) {}

  // Runs the task and drops its reference. The future is set after the closure has been destroyed,
  // so that a waiting task sees what the destructors did, and before the children of the task run.
  static void run(void* task) {
    const auto self = ref<future_task>::adopt(static_cast<future_task*>(task));
    self->computed_by(*scheduler::current_fiber());
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
  // Destroys a task that was not spawned.
  static void discard(void* task) noexcept { static_cast<future_task*>(task)->drop(); }

 private:
  std::optional<F> body_;
};

// The type of the future of a closure that is called with Args.
template <class F, class... Args>
using future_value =
    std::conditional_t<std::is_rvalue_reference_v<std::invoke_result_t<F&, Args...>>,
                       std::remove_cvref_t<std::invoke_result_t<F&, Args...>>,
                       std::remove_cv_t<std::invoke_result_t<F&, Args...>>>;

// A task with a future, before it is spawned: the state for the handle, and the body to spawn.
template <class T>
struct task_with_future {
  ref<future_state<T>> state;
  task_body body;
};

// Makes such a task from a closure. Throws: std::bad_alloc; what copying or moving f throws.
template <class F>
auto make_task_with_future(F&& f) -> task_with_future<future_value<std::decay_t<F>>> {
  using value = future_value<std::decay_t<F>>;
  using task = future_task<value, std::decay_t<F>>;
  auto* made = new task(std::in_place, std::forward<F>(f));
  return {ref<future_state<value>>::share(made), task_body(&task::run, &task::discard, made)};
}

}  // namespace apgas::inline v0::sync

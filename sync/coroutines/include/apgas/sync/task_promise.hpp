// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/sync/coroutine_runner.hpp>
#include <apgas/sync/future_event.hpp>

// The promise of a task<T>: what the compiler calls for the coroutine of a task, and what the
// coroutine may await.
namespace apgas::inline v0 {

template <class T>
class task;

namespace sync {

template <class T>
class task_promise;

// The frame of a coroutine, which this handle destroys.
template <class T>
class coroutine_frame {
 public:
  using handle = std::coroutine_handle<task_promise<T>>;

  coroutine_frame() = default;
  explicit coroutine_frame(handle h) noexcept : handle_(h) {}
  coroutine_frame(coroutine_frame&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  coroutine_frame& operator=(coroutine_frame&& other) noexcept {
    coroutine_frame(std::move(other)).swap(*this);
    return *this;
  }
  ~coroutine_frame() { reset(); }

  void reset() noexcept {
    if (handle_) std::exchange(handle_, {}).destroy();
  }
  void swap(coroutine_frame& other) noexcept { std::swap(handle_, other.handle_); }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  handle get() const noexcept { return handle_; }
  task_promise<T>& promise() const noexcept { return handle_.promise(); }

 private:
  handle handle_;
};

// Throws illegal_operation: `operation` was given a task without a coroutine.
APGAS_API [[noreturn]] void throw_empty_task(const char* operation);

struct task_access {
  // Takes the coroutine out of a task, which is empty afterwards.
  // Throws: illegal_operation if it is empty already.
  template <class T>
  static coroutine_frame<T> take(task<T>& t, const char* operation) {
    if (!t.frame_) throw_empty_task(operation);
    return std::move(t.frame_);
  }
};

// Awaiting an event, with the runner of the coroutine.
template <class Event>
class event_awaiter {
 public:
  template <class... Args>
  explicit event_awaiter(coroutine_runner& runner, Args&&... args)
      : runner_(runner), event_(std::forward<Args>(args)...) {}

  bool await_ready() { return event_.ready(); }
  void await_suspend(std::coroutine_handle<> self) noexcept { runner_.wait_for(event_, self); }
  decltype(auto) await_resume() { return event_.result(); }

 private:
  coroutine_runner& runner_;
  Event event_;  // a reference if the event is an object of the program
};

// Awaiting another task: its coroutine begins, and ends before this one continues.
template <class T>
class task_awaiter {
 public:
  task_awaiter(coroutine_runner& runner, coroutine_frame<T> frame) noexcept
      : runner_(runner), frame_(std::move(frame)) {}

  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) noexcept {
    frame_.promise().begin(runner_, self);
    runner_.continue_with(frame_.get());
  }
  T await_resume() { return frame_.promise().take(); }

 private:
  coroutine_runner& runner_;
  coroutine_frame<T> frame_;
};

template <class A>
inline constexpr bool may_be_awaited = false;

class promise_base {
 public:
  promise_base() = default;
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;

  // Prepares the start of the coroutine. `awaiting` continues when it has ended; null: the runner
  // ends.
  void begin(coroutine_runner& runner, std::coroutine_handle<> awaiting) noexcept {
    runner_ = &runner;
    awaiting_ = awaiting;
  }

  // Begins only when it is awaited or started.
  static std::suspend_always initial_suspend() noexcept { return {}; }

  struct at_end {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    static void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      const promise_base& promise = self.promise();
      promise.runner_->continue_with(promise.awaiting_);
    }
    static void await_resume() noexcept {}
  };
  static at_end final_suspend() noexcept { return {}; }

  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  template <class U>
  task_awaiter<U> await_transform(task<U>& awaited) {
    return {*runner_, task_access::take(awaited, "co_await")};
  }
  template <class U>
  task_awaiter<U> await_transform(task<U>&& awaited) {
    return {*runner_, task_access::take(awaited, "co_await")};
  }
  template <class U>
  event_awaiter<future_event<U>> await_transform(
      const future<U>& awaited, scheduler::call_site where = scheduler::call_site::current()) {
    return event_awaiter<future_event<U>>(*runner_, awaited, where);
  }
  template <class Event>
    requires std::derived_from<std::remove_cvref_t<Event>, awaited_event>
  event_awaiter<Event&> await_transform(Event&& awaited) {
    return event_awaiter<Event&>(*runner_, awaited);
  }
  template <class Other>
    requires(!std::derived_from<std::remove_cvref_t<Other>, awaited_event>)
  std::suspend_never await_transform(const Other&) {
    static_assert(may_be_awaited<Other>,
                  "apgas: a coroutine of type task<T> awaits a future, another task, at_awaitable, "
                  "clock::advance_awaitable or finish_awaitable; call a function that blocks, or "
                  "let the other library set an apgas::promise and await its future");
    return {};
  }

 protected:
  ~promise_base() = default;
  void rethrow_error() {
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  coroutine_runner* runner_ = nullptr;
  std::coroutine_handle<> awaiting_;
  std::exception_ptr error_;
};

template <class T>
class task_promise final : public promise_base {
 public:
  task<T> get_return_object() noexcept;

  template <class U>
    requires std::is_constructible_v<kept_value<T>, U> && (!std::is_reference_v<T>)
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  void return_value(T value) noexcept
    requires std::is_reference_v<T>
  {
    value_.emplace(std::addressof(value));
  }

  // Moves the value out, or throws the exception that left the coroutine.
  T take() {
    rethrow_error();
    if constexpr (std::is_reference_v<T>) {
      return **value_;
    } else {
      return *std::move(value_);
    }
  }

 private:
  std::optional<kept_value<T>> value_;
};

template <>
class task_promise<void> final : public promise_base {
 public:
  task<void> get_return_object() noexcept;
  static void return_void() noexcept {}
  void take() { rethrow_error(); }
};

}  // namespace sync
}  // namespace apgas::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/sync/future_state.hpp>

// What runtime::run and runtime::submit keep of a function whose type the library does not know.
namespace apgas::inline v0::launch {

// The value of a call: nothing for void, a pointer for a reference.
template <class R>
class kept_result {
 public:
  template <class F>
  void keep(F& f) {
    if constexpr (std::is_void_v<R>) {
      std::invoke(f);
    } else if constexpr (std::is_reference_v<R>) {
      auto&& there = std::invoke(f);
      value_.emplace(std::addressof(there));
    } else {
      value_.emplace(std::invoke(f));
    }
  }

  // Requires: keep() has returned. Once.
  R take() {
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**value_);
    } else if constexpr (!std::is_void_v<R>) {
      return *std::move(value_);
    }
  }

 private:
  std::optional<sync::kept_value<R>> value_;
};

// A call whose caller does not wait.
class submitted_call {
 public:
  submitted_call() = default;
  submitted_call(const submitted_call&) = delete;
  submitted_call& operator=(const submitted_call&) = delete;
  virtual ~submitted_call() = default;

  // The body of its task. Context: task.
  virtual void run() = 0;
  // All tasks of the call have ended; `error` is what its finish threw, or null.
  virtual void deliver(std::exception_ptr error) noexcept = 0;
};

template <class F>
class submitted final : public submitted_call {
 public:
  using result = std::invoke_result_t<F&>;

  explicit submitted(F f) : body_(std::move(f)) {}

  std::future<result> get_future() { return promise_.get_future(); }

  void run() override { value_.keep(*body_); }

  void deliver(std::exception_ptr error) noexcept override {
    body_.reset();  // what it captured has gone when the caller is told
    if (error != nullptr) {
      promise_.set_exception(std::move(error));
    } else if constexpr (std::is_void_v<result>) {
      promise_.set_value();
    } else {
      set_value();
    }
  }

 private:
  void set_value() noexcept {
    try {
      promise_.set_value(value_.take());
    } catch (...) {  // of the move constructor of the value
      promise_.set_exception(std::current_exception());
    }
  }

  std::optional<F> body_;
  kept_result<result> value_;
  std::promise<result> promise_;
};

}  // namespace apgas::inline v0::launch

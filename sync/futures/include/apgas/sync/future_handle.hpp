// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <future>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/deadline.hpp>
#include <apgas/sync/future_group.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/task.hpp>

// class future. Users include apgas/future.hpp.
namespace apgas::inline v0 {

template <class T>
class future;

namespace sync {

[[noreturn]] void throw_no_state(const char* operation);

// Between handles and states, for what makes and combines futures.
struct future_access {
  template <class T>
  static future<T> make(ref<future_state<T>> state) noexcept {
    return future<T>(std::move(state));
  }
  template <class T>
  static future_state<T>& state(const future<T>& f, const char* operation) {
    if (!f.state_) [[unlikely]] {
      throw_no_state(operation);
    }
    return *f.state_;
  }
};

// What get() returns.
template <class T>
using future_result = std::conditional_t<std::is_void_v<T> || std::is_reference_v<T>, T,
                                         std::add_lvalue_reference_t<const T>>;

}  // namespace sync

// A value that will be there, or the exception in its stead. A handle: copies mean the same value,
// which goes with the last of them. Several tasks may use copies of it at a time, each its own.
//
// An exception of a task that nobody looked at (by get, wait, a wait_for that found it ready, then,
// when_all, when_any or async_await) when the last handle goes or the run ends, is thrown by the
// root finish.
template <class T>
class future {
  static_assert(!std::is_rvalue_reference_v<T> && !std::is_array_v<T> &&
                    std::is_same_v<T, std::remove_cv_t<T>>,
                "a future is of a plain type, an lvalue reference or void");

 public:
  using value_type = T;

  // No value will come: everything but valid(), copying and assigning throws illegal_operation.
  future() = default;
  bool valid() const noexcept { return static_cast<bool>(state_); }

  // Whether get() would return or throw at once. Context: any thread. Cost: a load.
  bool ready() const { return sync::future_access::state(*this, "future::ready").ready(); }

  // The value, by const reference (nothing for void, the reference itself for T&), which is valid
  // as long as any handle is. As often as you like.
  //
  // Throws: the exception, if there is one; illegal_operation outside a task and inside an atomic
  // section, even if the value is there.
  // Context: task; may suspend and resume elsewhere. Cost: when ready, about 1 ns.
  sync::future_result<T> get() const {
    sync::suspendable_fiber("future::get");
    auto& state = sync::future_access::state(*this, "future::get");
    if (!state.has_value()) state.wait_for_value();
    if constexpr (std::is_reference_v<T>) {
      return *state.value();
    } else if constexpr (!std::is_void_v<T>) {
      return state.value();
    }
  }

  // Waits for value or exception, and throws neither. Otherwise as get().
  void wait() const {
    sync::suspendable_fiber("future::wait");
    sync::future_access::state(*this, "future::wait").wait();
  }

  // The same for at most `d`; never future_status::deferred. Zero or less does not suspend.
  template <class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period>& d) const {
    sync::suspendable_fiber("future::wait_for");
    auto& state = sync::future_access::state(*this, "future::wait_for");
    return state.wait_until(sync::deadline_in(d)) ? std::future_status::ready
                                                  : std::future_status::timeout;
  }

  // Runs f(*this) when this is ready, as a task of the caller's finish, which it keeps open from
  // now on. The future of what f returns; get() of f's argument does not wait, and throws if this
  // failed. Context: task that may spawn.
  template <std::invocable<future> F>
  auto then(F&& f, std::source_location site = std::source_location::current()) const {
    scheduler::fiber& self = sync::suspendable_fiber("future::then");
    sync::future_core* const source = &sync::future_access::state(*this, "future::then");
    auto body = [f = std::forward<F>(f), ready = *this]() mutable -> decltype(auto) {
      return std::invoke(f, std::move(ready));
    };
    auto made = sync::promise_of(std::move(body));
    sync::spawn_when_ready(self, {&source, 1}, std::move(made.body), nullptr, site);
    return sync::future_access::make(std::move(made.state));
  }

 private:
  friend struct sync::future_access;
  explicit future(sync::ref<sync::future_state<T>> state) noexcept : state_(std::move(state)) {}

  sync::ref<sync::future_state<T>> state_;
};

}  // namespace apgas::inline v0

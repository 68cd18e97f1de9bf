// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <future>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/comm/bound_to_place.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/future_group.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/task.hpp>

// class future, the handle of a value that will be there. Programs include <apgas/future.hpp>.
namespace apgas::inline v0 {

template <class T>
class future;

namespace sync {

// Throws illegal_operation: `operation` was called on an empty handle.
APGAS_API [[noreturn]] void throw_no_state(const char* operation);

// Lets the functions that make and combine futures convert between handles and states.
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
  // The value of `f`, for an operation that reports name by the static text `construct`.
  template <class T>
  static decltype(auto) get(const future<T>& f, const char* construct, const void* object,
                            const scheduler::call_site& where) {
    return f.get_as(construct, object, where);
  }
};

// The result type of get().
template <class T>
using future_result = std::conditional_t<std::is_void_v<T> || std::is_reference_v<T>, T,
                                         std::add_lvalue_reference_t<const T>>;

}  // namespace sync

// A handle of a value that will be there, or of an exception in its place. Copies refer to the same
// value, which lives as long as any of them. A single handle must not be used by two tasks at a
// time, but several tasks may use copies. A future belongs to its place and cannot be sent to
// another.
//
//   const apgas::future<double> x = apgas::async_future([] { return measure(); });
//   const apgas::future<double> twice =
//       x.then([](const apgas::future<double>& ready) { return 2 * ready.get(); });
//   assert(x.valid() && twice.valid());
//   if (!x.ready()) x.wait();                            // throws nothing if the task failed
//   if (x.wait_for(1ms) == std::future_status::ready) use(x.get());
//   if (x.wait_until(std::chrono::steady_clock::now()) == std::future_status::ready) use(x.get());
//   assert(twice.get() == 2 * x.get());                  // waits; throws what the task threw
//
// A task observes a future by get, wait, a wait_for or wait_until that finds it ready, then,
// when_all, when_any or async_await. If the task behind a future failed and no task has observed
// the future when its last handle is destroyed or the run ends, the root finish throws the
// exception.
template <class T>
class future {
  static_assert(!std::is_rvalue_reference_v<T> && !std::is_array_v<T> &&
                    std::is_same_v<T, std::remove_cv_t<T>>,
                "apgas: a future is of a type without const, an lvalue reference or void");

 public:
  using value_type = T;

  // Makes an empty handle. valid() returns false for it, and every other operation but copying,
  // assigning and destroying throws illegal_operation. Context: any thread.
  future() = default;
  // Returns whether the handle refers to a value, present or to come. Context: any thread.
  bool valid() const noexcept { return static_cast<bool>(state_); }

  // Returns whether get() would return or throw at once. This does not observe the future.
  // Throws: illegal_operation for an empty handle. Context: any thread. Cost: one load.
  bool ready() const { return sync::future_access::state(*this, "future::ready").ready(); }

  // Waits until the future is ready and returns its value by const reference, which is valid as
  // long as any handle is. A future<void> returns nothing, a future<T&> the reference itself. It
  // may be called any number of times.
  //
  // Throws: the exception of the future, if it has one; illegal_operation for an empty handle,
  // outside a task, and inside a critical section even if the value is there.
  // Context: task. May suspend and resume on another worker. Cost: about 1 ns if the value is
  // there.
  sync::future_result<T> get(scheduler::call_site where = scheduler::call_site::current()) const {
    return get_as("future::get", nullptr, where);
  }

  // Waits until the future is ready, and throws no exception of its task. Otherwise as get().
  void wait(scheduler::call_site where = scheduler::call_site::current()) const {
    sync::suspendable_fiber("future::wait");
    sync::future_access::state(*this, "future::wait").wait({"future::wait", nullptr, where});
  }

  // Waits for at most the duration d and returns future_status::ready or future_status::timeout,
  // never future_status::deferred. A duration of zero or less does not suspend. Otherwise as
  // wait().
  // Throws: as get(), without the exception of the future; std::bad_alloc.
  // Cost: if it must wait, an allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period>& d,
                              scheduler::call_site where = scheduler::call_site::current()) const {
    sync::suspendable_fiber("future::wait_for");
    auto& state = sync::future_access::state(*this, "future::wait_for");
    return status(state.wait_until({"future::wait_for", nullptr, where}, sync::deadline_in(d)));
  }

  // Waits until the future is ready, or until `Clock` shows the time t. If the clock is set back
  // meanwhile, the task waits again for the rest. Otherwise as wait_for().
  template <class Clock, class Duration>
  std::future_status wait_until(
      const std::chrono::time_point<Clock, Duration>& t,
      scheduler::call_site where = scheduler::call_site::current()) const {
    sync::suspendable_fiber("future::wait_until");
    auto& state = sync::future_access::state(*this, "future::wait_until");
    return status(sync::attempt_until(t, [&state, where](sync::deadline when) {
      return state.wait_until({"future::wait_until", nullptr, where}, when);
    }));
  }

  // Runs f(*this) as a task once this future is ready, and returns the future of what f returns.
  // The task belongs to the caller's finish from this call on, so the finish does not end before f
  // has run. In f, get() of its argument does not wait; it throws if this future failed. What f
  // throws goes to the future that is returned.
  //
  // Throws: illegal_operation for an empty handle, outside a task and inside a critical section;
  // std::bad_alloc.
  // Context: task. A suspension point if the future is ready already, as async; otherwise it does
  // not suspend. Cost: one allocation if the future is ready already, three otherwise.
  template <std::invocable<future> F>
  auto then(F&& f, std::source_location site = std::source_location::current()) const {
    scheduler::fiber& self = sync::suspendable_fiber("future::then");
    sync::future_core* const source = &sync::future_access::state(*this, "future::then");
    auto body = [f = std::forward<F>(f), ready = *this]() mutable -> decltype(auto) {
      return std::invoke(f, std::move(ready));
    };
    auto made = sync::make_task_with_future(std::move(body));
    sync::spawn_when_ready(self, {&source, 1}, std::move(made.body), nullptr, site);
    return sync::future_access::make(std::move(made.state));
  }

 private:
  friend struct sync::future_access;
  static std::future_status status(bool ready) noexcept {
    return ready ? std::future_status::ready : std::future_status::timeout;
  }
  sync::future_result<T> get_as(const char* construct, const void* object,
                                const scheduler::call_site& where) const {
    sync::suspendable_fiber(construct);
    auto& state = sync::future_access::state(*this, construct);
    if (!state.has_value()) state.wait_for_value({construct, object, where});
    if constexpr (std::is_reference_v<T>) {
      return *state.value();
    } else if constexpr (!std::is_void_v<T>) {
      return state.value();
    }
  }

  explicit future(sync::ref<sync::future_state<T>> state) noexcept : state_(std::move(state)) {}

  sync::ref<sync::future_state<T>> state_;
};

template <class T>
inline constexpr bool comm::bound_to_place<future<T>> = true;

}  // namespace apgas::inline v0

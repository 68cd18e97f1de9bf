// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <apgas/async_future_at.hpp>
#include <apgas/coroutine.hpp>

// Calls to other places by coroutines.
//
//   apgas::task<double> sum_of(apgas::place p, apgas::place q) {
//     apgas::call_awaitable<double> x = apgas::at_awaitable(p, [] { return measure(); });
//     apgas::call_awaitable<double> y = apgas::at_awaitable(q, [] { return measure(); });
//     const double first = co_await x;  // both places compute
//     co_return first + co_await y;
//   }
//   use(apgas::sync_wait(sum_of(p, q)));
namespace apgas::inline v0 {

// A call that was started and whose result a task<T> can await, once. Awaiting it a second time
// throws illegal_operation.
template <class R>
class [[nodiscard]] call_awaitable final : public sync::awaited_event {
 public:
  // For the implementation: at_awaitable makes it.
  call_awaitable(future<R> reply, const scheduler::call_site& where) noexcept
      : reply_(std::move(reply)), where_(where) {}
  call_awaitable(call_awaitable&&) noexcept = default;
  call_awaitable& operator=(call_awaitable&&) noexcept = default;

  // For the implementation: what the awaiting coroutine calls.
  bool ready() { return reply_.ready(); }
  bool notify(sync::coroutine_runner& waiting) noexcept override {
    waiter_.runner = &waiting;
    waiter_.on_ready = [](sync::future_waiter& w) noexcept {
      static_cast<waiter&>(w).runner->wake();
    };
    return sync::future_access::state(reply_, "co_await").enlist(waiter_);
  }
  scheduler::wait_record waits() const noexcept override {
    return sync::future_access::state(reply_, "co_await").record("at_awaitable", where_);
  }
  R result() {
    const future<R> reply = std::move(reply_);
    reply.get();
    if constexpr (!std::is_void_v<R>) {
      return sync::future_access::state(reply, "co_await").take_value();
    }
  }

 private:
  struct waiter : sync::future_waiter {
    sync::coroutine_runner* runner = nullptr;
  };

  future<R> reply_;
  scheduler::call_site where_;
  waiter waiter_;
};

// Starts f(args...) at place p and returns at once an object that a task<T> awaits for a copy of
// the result: `at` for coroutines, which holds no fiber while it waits. `f`, `args` and the result
// must be sendable (at.hpp). Tasks that f spawns belong to the innermost enclosing finish, which
// waits for the call as well, also if nobody awaits it. Unlike `at`, the call does not take the
// caller's registrations on clocks and phasers along, and passes no zero-copy arguments.
//
// Throws: as async_future_at. Where it is awaited: what left f, created again here as `at` does;
// illegal_operation if it was awaited before. An exception of a call that nobody awaits goes to the
// root finish, as that of a future.
// Context: task. May suspend, and resume on another worker, for flow control.
// Cost: one message each way, and two allocations.
template <class F, class... Args>
auto at_awaitable(sync::spawn_from<place> p, F&& f, Args&&... args) {
  const scheduler::call_site where = p.site;
  auto reply = async_future_at(std::move(p), std::forward<F>(f), std::forward<Args>(args)...);
  return call_awaitable<typename decltype(reply)::value_type>(std::move(reply), where);
}

template <std::integral P, class... Rest>
auto at_awaitable(P, Rest&&...) {
  remote::require_place<P>();
}

}  // namespace apgas::inline v0

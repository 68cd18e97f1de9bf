// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/sync/future_handle.hpp>

// Promises: futures that the program sets by hand, from any thread.
//
//   promises_   written by every thread that holds a promise
//
// Pairs
//   P1  The thread that drops the last promise sees what holders of the others did before they
//       dropped theirs.
namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: the future of the promise has a value or an exception already.
APGAS_API [[noreturn]] void throw_already_set();
// Returns the broken_promise of a future whose promises are all gone.
APGAS_API std::exception_ptr no_promise_left();

// The state that promises and futures share. It counts the promises, each of which holds a
// reference as well.
template <class T>
class promise_state final : public future_state<T> {
 public:
  explicit promise_state(const scheduler::call_site& made) noexcept : future_state<T>(made) {}
  void add_promise() noexcept { promises_.fetch_add(1, base::relaxed); }
  void drop_promise() noexcept {
    if (promises_.fetch_sub(1, base::acq_rel) == 1 && this->claim()) {  // P1
      this->publish_error(no_promise_left());
    }
  }

 private:
  base::atomic<std::uint32_t> promises_{1};
};

// Stands for T in the parameters of members that promise<void> does not have.
struct no_value {};

}  // namespace sync

// The side of a future that sets it, once. A promise is a handle: copies set the same future. If
// the last copy is destroyed before the future is set, the future fails with broken_promise. A
// promise belongs to its place and cannot be sent to another. std::promise for tasks.
//
//   const apgas::promise<double> result;
//   std::thread([result] {  // a foreign thread
//     try {
//       result.set_value(measure());
//     } catch (...) {
//       result.set_exception(std::current_exception());
//     }
//   }).detach();
//   use(result.get_future().get());  // suspends the task
//
// Throws, all set_ functions: illegal_operation if the future is set already, and for a promise
// that was moved from.
// Context, all members: any thread, also one of the program's own, while apgas::run is active. None
// suspends. Setting resumes the tasks that wait for the future.
// Cost: setting takes a short lock, and makes each waiting task ready.
template <class T>
class promise {
  using plain = std::conditional_t<std::is_void_v<T> || std::is_reference_v<T>, sync::no_value, T>;
  using reference = std::conditional_t<std::is_reference_v<T>, T, sync::no_value&>;

 public:
  // Makes a promise with a future that is not set. Reports name `where` if tasks wait for it.
  // Throws: std::bad_alloc. Cost: one allocation.
  promise(scheduler::call_site where = scheduler::call_site::current())  // NOLINT(*-explicit-*)
      : state_(sync::ref<sync::promise_state<T>>::adopt(new sync::promise_state<T>(where))) {}
  // A copy sets the same future.
  promise(const promise& other) noexcept : state_(other.state_) {
    if (state_) state_->add_promise();
  }
  // The source can no longer set the future.
  promise(promise&&) noexcept = default;
  promise& operator=(promise other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  // Breaks the promise if this is the last copy and the future is not set. Throws nothing.
  ~promise() {
    if (state_) state_->drop_promise();
  }

  // Returns a future that this promise sets. It may be called any number of times.
  // Throws: illegal_operation for a promise that was moved from.
  future<T> get_future() const {
    auto& state = need("promise::get_future");
    return sync::future_access::make(sync::ref<sync::future_state<T>>::share(&state));
  }

  // Sets the value. If copying or moving it throws, the exception goes to the caller and the future
  // stays unset. For promise<T&>, the future refers to `value`; for promise<void> there is no
  // argument.
  void set_value(const plain& value) const
    requires std::copy_constructible<plain> && std::same_as<plain, T>
  {
    emplace(value);
  }
  void set_value(plain&& value) const
    requires std::same_as<plain, T>
  {
    emplace(std::move(value));
  }
  void set_value(reference value) const
    requires std::is_reference_v<T>
  {
    emplace(std::addressof(value));
  }
  void set_value() const
    requires std::is_void_v<T>
  {
    emplace();
  }

  // Makes the future fail with `error`, which get() will throw.
  void set_exception(std::exception_ptr error) const {
    const auto state = hold("promise::set_exception");
    if (!state->claim()) sync::throw_already_set();
    state->publish_error(std::move(error));
  }

 private:
  sync::promise_state<T>& need(const char* operation) const {
    if (!state_) [[unlikely]] {
      sync::throw_no_state(operation);
    }
    return *state_;
  }

  // Returns a reference of its own, because a task that is resumed by setting the future may
  // destroy this promise.
  auto hold(const char* operation) const {
    return sync::ref<sync::promise_state<T>>::share(&need(operation));
  }

  template <class... Args>
  void emplace(Args&&... args) const {
    const auto state = hold("promise::set_value");
    if (!state->claim()) sync::throw_already_set();
    try {
      state->emplace(std::forward<Args>(args)...);
    } catch (...) {
      state->abandon();
      throw;
    }
    state->publish_value();
  }

  sync::ref<sync::promise_state<T>> state_;
};

template <class T>
inline constexpr bool comm::bound_to_place<promise<T>> = true;

}  // namespace apgas::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <apgas/sync/future_handle.hpp>

// Setting a future by hand.
//
//   promises_   written by anybody who holds a promise
//
// Pairs
//   P1  What holders of other promises did is visible to the one that goes last.
namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_already_set();
std::exception_ptr no_promise_left();

// The shared state of promises. Each promise holds a reference as well.
template <class T>
class promise_state final : public future_state<T> {
 public:
  void add_promise() noexcept { promises_.fetch_add(1, base::relaxed); }
  void drop_promise() noexcept {
    if (promises_.fetch_sub(1, base::acq_rel) == 1 && this->claim()) {  // P1
      this->publish_error(no_promise_left());
    }
  }

 private:
  base::atomic<std::uint32_t> promises_{1};
};

// For the parameters of members that T = void does not have.
struct no_value {};

}  // namespace sync

// The side of a future that sets it, once. A handle: copies set the same future. When the last one
// goes without having set it, the future fails with broken_promise.
//
// Context of everything: any thread, while apgas::run is active; does not suspend. Setting throws
// illegal_operation if the future is set already.
template <class T>
class promise {
  using plain = std::conditional_t<std::is_void_v<T> || std::is_reference_v<T>, sync::no_value, T>;
  using reference = std::conditional_t<std::is_reference_v<T>, T, sync::no_value&>;

 public:
  promise() : state_(sync::ref<sync::promise_state<T>>::adopt(new sync::promise_state<T>)) {}
  promise(const promise& other) noexcept : state_(other.state_) {
    if (state_) state_->add_promise();
  }
  promise(promise&&) noexcept = default;
  promise& operator=(promise other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~promise() {
    if (state_) state_->drop_promise();
  }

  // As often as you like.
  future<T> get_future() const {
    auto& state = need("promise::get_future");
    return sync::future_access::make(sync::ref<sync::future_state<T>>::share(&state));
  }

  // When copying or moving the value throws, nothing is set.
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

  // A task that is resumed by setting may end the promise that is being set.
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

}  // namespace apgas::inline v0

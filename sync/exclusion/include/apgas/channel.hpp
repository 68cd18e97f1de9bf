// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <apgas/mutex.hpp>
#include <apgas/semaphore.hpp>

namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_no_capacity(std::ptrdiff_t given);
[[noreturn]] void throw_channel_closed();

}  // namespace sync

// A queue of bounded length between tasks of a place: values come out in the order in which they
// went in; tasks that wait are served first come first served.
//
//   free_    units: free room, and one more when the channel is closed
//   filled_  units: values, and one more when the channel is closed
//   Who gets the one more passes it on, so all that wait see that the channel is closed.
//
// Context of send and receive: task, not inside an atomic section (illegal_operation). They may
// suspend and resume elsewhere.
template <std::movable T>
class channel {
 public:
  // Room for `capacity` values. Throws: illegal_operation unless there is room for one.
  explicit channel(std::ptrdiff_t capacity) : free_(checked(capacity)), filled_(0) {}

  // Waits for room. Throws: illegal_operation when the channel is closed, also while it waits.
  void send(T value) {
    sync::suspendable_fiber("channel::send");
    free_.acquire();
    put(std::move(value));
  }

  // False: there is no room now. Throws: illegal_operation when the channel is closed.
  [[nodiscard]] bool try_send(T value) {
    if (!free_.try_acquire()) return false;
    put(std::move(value));
    return true;
  }

  // Waits for a value; nothing when the channel is closed and empty.
  std::optional<T> receive() {
    sync::suspendable_fiber("channel::receive");
    filled_.acquire();
    return take();
  }

  // Nothing when there is no value now.
  std::optional<T> try_receive() {
    if (!filled_.try_acquire()) return std::nullopt;
    return take();
  }

  // What was sent can still be received. Again is allowed. Context: task.
  void close() {
    {
      const std::lock_guard hold(guard_);
      if (closed_) return;
      closed_ = true;
    }
    free_.release();
    filled_.release();
  }

 private:
  static std::ptrdiff_t checked(std::ptrdiff_t capacity) {
    if (capacity < 1) sync::throw_no_capacity(capacity);
    return capacity;
  }

  void put(T&& value) {
    {
      const std::lock_guard hold(guard_);
      if (!closed_) {
        values_.push_back(std::move(value));
      } else {
        free_.release();
        sync::throw_channel_closed();
      }
    }
    filled_.release();
  }

  std::optional<T> take() {
    std::optional<T> value;
    {
      const std::lock_guard hold(guard_);
      if (!values_.empty()) {
        value.emplace(std::move(values_.front()));
        values_.pop_front();
      }
    }
    (value ? free_ : filled_).release();
    return value;
  }

  semaphore free_;
  semaphore filled_;
  mutex guard_;  // not a spin lock: moving a value is user code
  bool closed_ = false;
  std::deque<T> values_;
};

}  // namespace apgas::inline v0

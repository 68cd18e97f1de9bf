// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/mutex.hpp>
#include <apgas/semaphore.hpp>

namespace apgas::inline v0 {

namespace sync {

// These throw illegal_operation.
APGAS_API [[noreturn]] void throw_no_capacity(std::ptrdiff_t given);
APGAS_API [[noreturn]] void throw_channel_closed();

}  // namespace sync

// A bounded queue between the tasks of a place. Values come out in the order in which they went in,
// and waiting tasks are served first come first served. A task that receives a value, or learns
// that the channel is closed, sees everything that the other task wrote before it sent or closed. A
// channel can be neither copied nor moved, nor sent to another place.
//
//   apgas::channel<job> jobs(16);
//   apgas::finish([&] {
//     apgas::async([&] { while (auto j = jobs.receive()) run(*j); });
//     for (int i = 0; i < 100; ++i) jobs.send(job{i});
//     jobs.close();
//   });
//
//   apgas::channel<job> urgent(1);
//   bool sent = urgent.try_send(job{1});                                      // there is room
//   sent = urgent.try_send_for(job{2}, 1ms);                                  // waits in vain
//   sent = urgent.try_send_until(job{2}, std::chrono::steady_clock::now() + 1ms);
//   std::optional<job> next = urgent.try_receive();                           // job 1
//   next = urgent.try_receive_for(1ms);                                       // waits in vain
//   next = urgent.try_receive_until(std::chrono::steady_clock::now() + 1ms);
//
//   free_    has a permit for each free position, and one more once the channel is closed
//   filled_  has a permit for each value, and one more once the channel is closed
//   A task that obtains the additional permit passes it on, so every waiting task learns that the
//   channel is closed.
//
// Throws, all members: illegal_operation outside a task and inside `atomic` or `when`. Those that
// take or return a value: what moving it throws, after which nothing was added or removed. Those
// with a time limit: std::bad_alloc, also after which nothing was added or removed.
// Cost: a value that need not wait takes two operations of a semaphore and one of a mutex.
// Context, all members: task. May suspend and resume on another worker; try_send, try_receive and
// close only for the short time in which another task moves a value.
template <std::movable T>
class channel {
 public:
  // Makes a channel with room for `capacity` values. Throws: illegal_operation if that is less than
  // 1. Context: any thread.
  explicit channel(std::ptrdiff_t capacity) : free_(checked(capacity)), filled_(0) {}

  // Appends a value; waits if there is no room. Throws: illegal_operation if the channel is closed
  // or is closed while the task waits.
  void send(T value, scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("channel::send");
    if (!free_.try_acquire()) free_.wait({"channel::send", this, where});
    put(std::move(value));
  }

  // Appends a value if there is room, and returns whether there was. Throws: illegal_operation if
  // the channel is closed.
  [[nodiscard]] bool try_send(T value) {
    sync::suspendable_fiber("channel::try_send");
    if (!free_.try_acquire()) return false;
    put(std::move(value));
    return true;
  }

  // Appends a value; waits for at most the duration d if there is no room. Returns whether it
  // appended the value; if not, the value is destroyed. A duration of zero or less does not
  // suspend; one of more than a century means for ever. Throws: as send. Cost: if it must wait, an
  // allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] bool try_send_for(T value, const std::chrono::duration<Rep, Period>& d,
                                  scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("channel::try_send_for");
    if (!free_.try_acquire_for(d, where)) return false;
    put(std::move(value));
    return true;
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_send_until(T value, const std::chrono::time_point<Clock, Duration>& t,
                                    scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("channel::try_send_until");
    if (!free_.try_acquire_until(t, where)) return false;
    put(std::move(value));
    return true;
  }

  // Removes and returns the oldest value; waits if there is none. Returns nullopt once the channel
  // is closed and empty.
  std::optional<T> receive(scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("channel::receive");
    if (!filled_.try_acquire()) filled_.wait({"channel::receive", this, where});
    return take();
  }

  // Removes and returns the oldest value, or returns nullopt if there is none.
  std::optional<T> try_receive() {
    sync::suspendable_fiber("channel::try_receive");
    if (!filled_.try_acquire()) return std::nullopt;
    return take();
  }

  // Removes and returns the oldest value; waits for at most the duration d if there is none.
  // Returns nullopt if there still is none, and once the channel is closed and empty. Durations,
  // Cost: as try_send_for.
  template <class Rep, class Period>
  std::optional<T> try_receive_for(const std::chrono::duration<Rep, Period>& d,
                                   scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("channel::try_receive_for");
    if (!filled_.try_acquire_for(d, where)) return std::nullopt;
    return take();
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  std::optional<T> try_receive_until(const std::chrono::time_point<Clock, Duration>& t,
                                     scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("channel::try_receive_until");
    if (!filled_.try_acquire_until(t, where)) return std::nullopt;
    return take();
  }

  // Ends the channel: send throws from now on, and receive returns what was sent before. A second
  // call has no effect.
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

  // Requires: the task has a permit of free_, which goes back if there is no new value.
  void put(T&& value) {
    try {
      const std::lock_guard hold(guard_);
      if (closed_) sync::throw_channel_closed();
      values_.push_back(std::move(value));
    } catch (...) {
      free_.release();
      throw;
    }
    filled_.release();
  }

  // Requires: the task has a permit of filled_, which goes back if no value was removed.
  std::optional<T> take() {
    std::optional<T> value;
    try {
      const std::lock_guard hold(guard_);
      if (!values_.empty()) {
        value.emplace(std::move(values_.front()));
        values_.pop_front();
      }
    } catch (...) {
      filled_.release();
      throw;
    }
    (value ? free_ : filled_).release();
    return value;
  }

  semaphore free_;
  semaphore filled_;
  mutex guard_;  // not a spin lock, because moving a value is user code
  bool closed_ = false;
  std::deque<T> values_;
};

}  // namespace apgas::inline v0

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/future.hpp>
#include <apgas/promise.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: the variable has been written before.
APGAS_API [[noreturn]] void throw_written_twice();

}  // namespace sync

// A variable that is written once and read by any number of tasks, which wait for the value:
// Chapel's single variable. It belongs to its place: it can be neither copied nor moved, nor sent
// to another place. A task whose read_ff has returned sees everything that the writing task wrote
// before its write_ef.
//
//   apgas::single_var<int> v;
//   apgas::finish([&] {
//     apgas::async([&] { v.write_ef(1); });
//     use(v.read_ff());  // waits for the write
//     assert(v.is_full());
//   });                  // v outlives the tasks that use it
//   if (const int* value = v.try_read_ff_for(1ms)) use(*value);
//   if (const int* value = v.try_read_ff_until(std::chrono::steady_clock::now())) use(*value);
//
// Requires, when it is destroyed: no task waits for it.
template <class T>
class single_var {
 public:
  // Makes an empty variable. Throws: std::bad_alloc. Context: any thread. Cost: one allocation.
  single_var() = default;
  single_var(const single_var&) = delete;
  single_var& operator=(const single_var&) = delete;

  // Writes the value and resumes the waiting tasks.
  // Throws: illegal_operation if the variable has been written before, or is being written; what
  // moving the value throws, after which the variable stays empty.
  // Context: any thread, while apgas::run is active; does not suspend.
  // Cost: as promise::set_value.
  void write_ef(T value) {
    if (written_.exchange(true, base::relaxed)) sync::throw_written_twice();
    try {
      promise_.set_value(std::move(value));
    } catch (...) {
      written_.store(false, base::relaxed);
      throw;
    }
  }

  // Waits until the value has been written, and returns a reference to it. The value lives as long
  // as the variable.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker.
  // Cost: that of future::get.
  const T& read_ff(scheduler::call_site where = scheduler::call_site::current()) const {
    sync::suspendable_fiber("single_var::read_ff");
    return sync::future_access::get(value_, "single_var::read_ff", this, where);
  }

  // Waits until the value has been written, for at most the duration d, and returns a pointer to
  // it; null if it was not written in time. A duration of zero or less does not suspend; one of
  // more than a century means for ever.
  // Throws: as read_ff; std::bad_alloc. Context: as read_ff.
  // Cost: if it must wait, an allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] const T* try_read_ff_for(
      const std::chrono::duration<Rep, Period>& d,
      scheduler::call_site where = scheduler::call_site::current()) const {
    sync::suspendable_fiber("single_var::try_read_ff_for");
    return value_if(value_.wait_for(d, where));
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] const T* try_read_ff_until(
      const std::chrono::time_point<Clock, Duration>& t,
      scheduler::call_site where = scheduler::call_site::current()) const {
    sync::suspendable_fiber("single_var::try_read_ff_until");
    return value_if(value_.wait_until(t, where));
  }

  // Returns whether the value has been written. Context: any thread; does not suspend.
  [[nodiscard]] bool is_full() const noexcept { return value_.ready(); }

 private:
  const T* value_if(std::future_status status) const {
    return status == std::future_status::ready ? std::addressof(value_.get()) : nullptr;
  }

  base::atomic<bool> written_{false};
  promise<T> promise_{scheduler::call_site{}};  // reports name the variable, not the promise
  future<T> value_ = promise_.get_future();
};

}  // namespace apgas::inline v0

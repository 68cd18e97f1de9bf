// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/timed_wait.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: `operation` was given a negative number.
APGAS_API [[noreturn]] void throw_negative(const char* operation, std::ptrdiff_t given);

}  // namespace sync

// A counting semaphore for tasks, first come first served: acquire() takes a permit and release()
// returns some. std::counting_semaphore for tasks. It belongs to its place. A task that takes a
// permit sees everything that was written before the release() which returned it.
//
//   apgas::semaphore connections(2);                // no more than two at a time
//   apgas::coforall(0, 10, [&](int i) {
//     connections.acquire();
//     work(i);
//     connections.release();
//   });
//   if (connections.try_acquire()) connections.release();
//   if (connections.try_acquire_for(1ms)) connections.release();
//   if (connections.try_acquire_until(std::chrono::steady_clock::now())) connections.release();
//
// Requires, when it is destroyed: no task waits for it, and no acquisition with a time limit is in
// progress.
class semaphore {
 public:
  // Starts with `permits` permits. Throws: illegal_operation if the number is negative. Context:
  // any thread.
  explicit semaphore(std::ptrdiff_t permits) : permits_(permits) {
    if (permits < 0) sync::throw_negative("semaphore", permits);
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  // Takes a permit; waits if there is none.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker.
  // Cost: one short lock; if it must wait, another one and a suspension.
  void acquire(scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("semaphore::acquire");
    if (try_acquire()) return;
    wait({"semaphore::acquire", this, where});
  }

  // Takes a permit if there is one, and returns whether there was. Context: any thread; does not
  // suspend.
  [[nodiscard]] bool try_acquire() noexcept {
    std::lock_guard hold(guard_);
    return take();
  }

  // Takes a permit; waits for at most the duration d if there is none. Returns whether it took one.
  // A duration of zero or less does not suspend; one of more than a century means for ever. A
  // permit that is handed to the task is never lost, even if the time is over by then.
  // Throws: as acquire; std::bad_alloc. Context: as acquire.
  // Cost: if it must wait, an allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& d,
                                     scheduler::call_site where = scheduler::call_site::current()) {
    return acquire_until({"semaphore::try_acquire_for", this, where}, sync::deadline_in(d));
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(
      const std::chrono::time_point<Clock, Duration>& t,
      scheduler::call_site where = scheduler::call_site::current()) {
    return sync::attempt_until(t, [this, where](sync::deadline when) {
      return acquire_until({"semaphore::try_acquire_until", this, where}, when);
    });
  }

  // Adds permits and hands them to waiting tasks, which resume. Throws: illegal_operation if the
  // number is negative. Context: any thread; does not suspend. Cost: one short lock.
  void release(std::ptrdiff_t permits = 1) {
    if (permits < 0) sync::throw_negative("semaphore::release", permits);
    sync::resume_list served;
    {
      std::lock_guard hold(guard_);
      for (permits_ += permits; permits_ > 0 && !waiting_.empty(); --permits_)
        served.push(*waiting_.pop());
    }
    served.resume_all();
  }

 private:
  template <std::movable T>
  friend class channel;  // so that reports name its operations

  void wait(const scheduler::wait_record& waits_for) noexcept {
    sync::queue_unless(waits_for, guard_, waiting_, [this] { return take(); });
  }

  bool acquire_until(const scheduler::wait_record& operation, sync::deadline when) {
    sync::suspendable_fiber(operation.construct);
    return try_acquire() ||
           sync::queue_until(operation, guard_, waiting_, when, [this] { return take(); });
  }

  bool take() noexcept {
    if (permits_ == 0) return false;
    --permits_;
    return true;
  }

  base::spin_lock guard_;
  std::ptrdiff_t permits_;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0

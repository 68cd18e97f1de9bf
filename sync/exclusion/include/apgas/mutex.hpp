// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/timed_wait.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: the mutex is not locked.
APGAS_API [[noreturn]] void throw_not_locked();

}  // namespace sync

// std::timed_mutex for tasks. A task that waits suspends and does not block its worker, and the
// holder may suspend while it holds the mutex. std::lock_guard, std::unique_lock and
// std::scoped_lock work with it. It is not recursive, and it belongs to its place.
//
// Waiting tasks are resumed first come first served. A task that calls lock() meanwhile may
// overtake the one that was just resumed, but only once: then the mutex is handed to the overtaken
// task directly. So no task starves, and a busy mutex does not stay unused at every turn until a
// task has been resumed.
//
// A task that acquires the mutex sees everything that its earlier holders wrote before they
// released it.
//
// Requires, when it is destroyed: it is not locked, and no task waits for it.
class mutex {
 public:
  // Makes an unlocked mutex. Throws nothing. Context: any thread, also outside apgas::run.
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Acquires the mutex; waits while another task holds it.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker. Cost: about 6 ns if the mutex is free.
  void lock() {
    const scheduler::fiber& self = sync::suspendable_fiber("mutex::lock");
    if (try_lock() || locks_soon(self)) return;
    wait();
  }

  // Acquires the mutex if it is free, and returns whether it did. Context: any thread; does not
  // suspend.
  [[nodiscard]] bool try_lock() noexcept {
    std::lock_guard hold(guard_);
    return take();
  }

  // Acquires the mutex; waits for at most the duration d while another task holds it. Returns
  // whether it acquired the mutex. A duration of zero or less does not suspend; one of more than a
  // century means for ever. A mutex that is handed to the task is acquired, even if the time is
  // over by then.
  // Throws: as lock; std::bad_alloc. Context: as lock.
  // Cost: as lock; if it must wait, also an allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& d) {
    return lock_until("mutex::try_lock_for", sync::deadline_in(d));
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return sync::attempt_until(
        t, [this](sync::deadline when) { return lock_until("mutex::try_lock_until", when); });
  }

  // Releases the mutex and resumes the next waiting task.
  // Throws: illegal_operation if the mutex is not locked.
  // Context: any task, not necessarily the one that locked it; does not suspend.
  void unlock() {
    if (!release()) [[unlikely]]
      sync::throw_not_locked();
  }

 private:
  friend class condition_variable;

  // As unlock(), but returns false if the mutex is not locked. Context: any thread.
  bool release() noexcept {
    sync::queued_task* next = nullptr;
    {
      std::lock_guard hold(guard_);
      if (free_.load(base::relaxed)) [[unlikely]]
        return false;
      next = overtaken_.pop();  // if there is one, the mutex stays locked for it
      if (next == nullptr) {
        free_.store(true, base::relaxed);
        if (!waking_) next = waiting_.pop();
        waking_ = waking_ || next != nullptr;
      }
    }
    if (next != nullptr) scheduler::resume(next->task);
    return true;
  }

  bool take() noexcept {
    const bool was_free = free_.load(base::relaxed);
    free_.store(false, base::relaxed);
    return was_free;
  }

  bool locks_soon(const scheduler::fiber& self) noexcept {
    return sync::succeeds_soon(self, [this] { return free_.load(base::relaxed) && try_lock(); });
  }

  void wait() noexcept {
    bool mine = false;
    sync::queue_unless("mutex::lock", guard_, waiting_, [&] { return mine = take(); });
    if (mine) return;
    {
      std::lock_guard hold(guard_);
      waking_ = false;
      if (take()) return;
    }
    sync::queue_unless("mutex::lock", guard_, overtaken_, [this] { return take(); });
  }

  bool lock_until(const char* operation, sync::deadline when) {
    const scheduler::fiber& self = sync::suspendable_fiber(operation);
    return try_lock() || (when > sync::deadline::clock::now() && locks_soon(self)) ||
           wait_until(operation, when);
  }

  bool wait_until(const char* operation, sync::deadline when) {
    bool mine = false;
    if (!sync::queue_until(operation, guard_, waiting_, when, [&] { return mine = take(); }))
      return try_lock();  // the mutex may be free for a task that was resumed but has not run yet
    if (mine) return true;
    {
      std::lock_guard hold(guard_);
      waking_ = false;
      if (take()) return true;
    }
    return sync::queue_until(operation, guard_, overtaken_, when, [this] { return take(); });
  }

  base::spin_lock guard_;
  base::atomic<bool> free_{true};  // written under guard_
  bool waking_ = false;            // a task that was resumed has not tried to lock yet
  sync::wait_queue waiting_;
  sync::wait_queue overtaken_;
};

}  // namespace apgas::inline v0

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
//   apgas::mutex m;
//   std::map<int, job> jobs;                        // guarded by m
//   apgas::coforall(0, 4, [&](int i) {
//     const std::lock_guard hold(m);
//     jobs.emplace(i, job{i});
//   });
//   if (m.try_lock()) m.unlock();
//   if (m.try_lock_for(1ms)) m.unlock();
//   if (m.try_lock_until(std::chrono::steady_clock::now() + 1ms)) m.unlock();
//   m.lock();                                       // std::lock_guard does that, and unlocks
//   m.unlock();
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
  void lock(scheduler::call_site where = scheduler::call_site::current()) {
    const scheduler::fiber& self = sync::suspendable_fiber("mutex::lock");
    if (try_lock_by(&self) || locks_soon(self)) return;
    wait(self, where);
  }

  // Acquires the mutex if it is free, and returns whether it did. Context: any thread; does not
  // suspend.
  [[nodiscard]] bool try_lock() noexcept { return try_lock_by(scheduler::current_fiber()); }

  // Acquires the mutex; waits for at most the duration d while another task holds it. Returns
  // whether it acquired the mutex. A duration of zero or less does not suspend; one of more than a
  // century means for ever. A mutex that is handed to the task is acquired, even if the time is
  // over by then.
  // Throws: as lock; std::bad_alloc. Context: as lock.
  // Cost: as lock; if it must wait, also an allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& d,
                                  scheduler::call_site where = scheduler::call_site::current()) {
    return lock_until({"mutex::try_lock_for", this, where, explain}, sync::deadline_in(d));
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t,
                                    scheduler::call_site where = scheduler::call_site::current()) {
    return sync::attempt_until(t, [this, where](sync::deadline when) {
      return lock_until({"mutex::try_lock_until", this, where, explain}, when);
    });
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
      if (next != nullptr) {
        holder_ = next->task;
      } else {
        free_.store(true, base::relaxed);
        if (!waking_) next = waiting_.pop();
        waking_ = waking_ || next != nullptr;
      }
    }
    if (next != nullptr) scheduler::resume(next->task);
    return true;
  }

  bool take(const scheduler::fiber* by) noexcept {
    const bool was_free = free_.load(base::relaxed);
    free_.store(false, base::relaxed);
    if (was_free) holder_ = by;
    return was_free;
  }

  bool try_lock_by(const scheduler::fiber* by) noexcept {
    std::lock_guard hold(guard_);
    return take(by);
  }

  bool locks_soon(const scheduler::fiber& self) noexcept {
    return sync::succeeds_soon(self,
                               [&] { return free_.load(base::relaxed) && try_lock_by(&self); });
  }

  void wait(const scheduler::fiber& self, const scheduler::call_site& where) noexcept {
    const scheduler::wait_record waits_for{"mutex::lock", this, where, explain};
    bool mine = false;
    sync::queue_unless(waits_for, guard_, waiting_, [&] { return mine = take(&self); });
    if (mine) return;
    {
      std::lock_guard hold(guard_);
      waking_ = false;
      if (take(&self)) return;
    }
    sync::queue_unless(waits_for, guard_, overtaken_, [&] { return take(&self); });
  }

  bool lock_until(const scheduler::wait_record& operation, sync::deadline when) {
    const scheduler::fiber& self = sync::suspendable_fiber(operation.construct);
    return try_lock_by(&self) || (when > scheduler::time_of_task() && locks_soon(self)) ||
           wait_until(self, operation, when);
  }

  bool wait_until(const scheduler::fiber& self, const scheduler::wait_record& operation,
                  sync::deadline when) {
    bool mine = false;
    if (!sync::queue_until(operation, guard_, waiting_, when, [&] { return mine = take(&self); }))
      return try_lock_by(
          &self);  // the mutex may be free for a task that was resumed but has not run yet
    if (mine) return true;
    {
      std::lock_guard hold(guard_);
      waking_ = false;
      if (take(&self)) return true;
    }
    return sync::queue_until(operation, guard_, overtaken_, when, [&] { return take(&self); });
  }

  // For the watchdog: the waiting tasks need the one that has locked the mutex.
  APGAS_API static void explain(const scheduler::wait_record& waits_for,
                                scheduler::wait_explainer& to);

  base::spin_lock guard_;
  base::atomic<bool> free_{true};             // written under guard_
  bool waking_ = false;                       // a task that was resumed has not tried to lock yet
  const scheduler::fiber* holder_ = nullptr;  // its holder, while it is locked; under guard_
  sync::wait_queue waiting_;
  sync::wait_queue overtaken_;
};

}  // namespace apgas::inline v0

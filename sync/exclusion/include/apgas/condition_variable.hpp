// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/mutex.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/timed_wait.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: the lock that `operation` was given does not own a mutex.
APGAS_API [[noreturn]] void throw_lock_not_owned(const char* operation);

}  // namespace sync

// Lets tasks wait until other tasks notify them of a change of what a mutex guards.
// std::condition_variable for tasks, with apgas::mutex. It belongs to its place.
//
//   apgas::mutex m;
//   apgas::condition_variable changed;
//   std::deque<job> jobs;                                  // guarded by m
//   const auto next_job = [&] {
//     std::unique_lock hold(m);
//     changed.wait(hold, [&] { return !jobs.empty(); });
//     const job first = jobs.front();
//     jobs.pop_front();
//     return first;
//   };
//   const auto add = [&](job j) {
//     const std::lock_guard hold(m);
//     jobs.push_back(j);
//     changed.notify_one();                                // or notify_all(), to wake all tasks
//   };
//
//   add(job{1});
//   run(next_job());
//   std::unique_lock hold(m);
//   bool there = changed.wait_for(hold, 1ms, [&] { return !jobs.empty(); });
//   const auto soon = std::chrono::steady_clock::now() + 1ms;
//   there = changed.wait_until(hold, soon, [&] { return !jobs.empty(); });
//   changed.notify_all();
//
// Waiting tasks are notified first come first served, and a wait returns only when it was notified
// or its time is over. Another task may nevertheless have changed the guarded data again before the
// notified task has the mutex, so programs test their condition, as the forms with a predicate do.
// `when` needs neither mutex nor notification, and resumes no task in vain.
//
// Throws, all waits: illegal_operation outside a task, inside `atomic` or `when`, and if the lock
// does not own its mutex. Those with a time limit: std::bad_alloc; then the mutex stays locked.
// Those with a predicate: what it throws; the mutex is locked then.
// Context, all waits: task. They suspend, also if the time is over already, and may resume on
// another worker. Cost: about that of mutex::lock and a suspension; with a time limit also an
// allocation and two short locks of the scheduler.
//
// Requires, when it is destroyed: the tasks that wait have been notified, and the waits with a time
// limit have returned.
class condition_variable {
 public:
  // Throws nothing. Context: any thread, also outside apgas::run.
  condition_variable() = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  // Resumes the task that has waited longest. A call while no task waits has no effect.
  // Context: any thread, with the mutex locked or not; does not suspend. Cost: one short lock.
  void notify_one() noexcept {
    guard_.lock();
    sync::queued_task* const next = waiting_.pop();
    guard_.unlock();
    if (next != nullptr) scheduler::resume(next->task);
  }

  // Resumes all tasks that wait. Context, Cost: as notify_one.
  void notify_all() noexcept {
    sync::resume_list all;
    guard_.lock();
    waiting_.pop_all(all);
    guard_.unlock();
    all.resume_all();
  }

  // Releases the mutex, waits until the task is notified, and locks the mutex again. No
  // notification that is given after the release is missed.
  void wait(std::unique_lock<mutex>& lock,
            scheduler::call_site where = scheduler::call_site::current()) {
    mutex* const m = &owned("condition_variable::wait", lock);
    sync::queued_task me;
    scheduler::suspend({"condition_variable::wait", this, where},
                       [this, &me, m](scheduler::fiber* self) {
                         me.task = self;
                         guard_.lock();
                         waiting_.push(me);
                         guard_.unlock();
                         m->release();
                       });
    m->lock(where);
  }

  // Waits until pred() is true. pred() is called with the mutex locked, before the first wait and
  // after each.
  template <class Predicate>
    requires std::predicate<Predicate&>
  void wait(std::unique_lock<mutex>& lock, Predicate pred,
            scheduler::call_site where = scheduler::call_site::current()) {
    while (!pred()) wait(lock, where);
  }

  // Waits until the task is notified, for at most the duration d. Returns cv_status::timeout if it
  // was not notified, otherwise no_timeout. The mutex is locked again in both cases, which may take
  // longer than d. A duration of more than a century means for ever.
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock,
                          const std::chrono::duration<Rep, Period>& d,
                          scheduler::call_site where = scheduler::call_site::current()) {
    return status(
        wait_to({"condition_variable::wait_for", this, where}, lock, sync::deadline_in(d)));
  }

  // Waits until pred() is true, for at most the duration d, and returns the last result of pred().
  template <class Rep, class Period, class Predicate>
    requires std::predicate<Predicate&>
  bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& d,
                Predicate pred, scheduler::call_site where = scheduler::call_site::current()) {
    const sync::deadline when = sync::deadline_in(d);
    while (!pred()) {
      if (!wait_to({"condition_variable::wait_for", this, where}, lock, when)) return pred();
    }
    return true;
  }

  // Waits until the task is notified, or until `Clock` shows the time t. If the clock is set back
  // meanwhile, the task waits again for the rest. Otherwise as wait_for.
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<mutex>& lock,
                            const std::chrono::time_point<Clock, Duration>& t,
                            scheduler::call_site where = scheduler::call_site::current()) {
    return status(sync::attempt_until(t, [&](sync::deadline when) {
      return wait_to({"condition_variable::wait_until", this, where}, lock, when);
    }));
  }

  // Waits until pred() is true, or until `Clock` shows the time t, and returns the last result of
  // pred().
  template <class Clock, class Duration, class Predicate>
    requires std::predicate<Predicate&>
  bool wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& t,
                  Predicate pred, scheduler::call_site where = scheduler::call_site::current()) {
    while (!pred()) {
      if (wait_until(lock, t, where) == std::cv_status::timeout) return pred();
    }
    return true;
  }

 private:
  static std::cv_status status(bool notified) noexcept {
    return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
  }

  static mutex& owned(const char* operation, const std::unique_lock<mutex>& lock) {
    sync::suspendable_fiber(operation);
    if (!lock.owns_lock()) [[unlikely]]
      sync::throw_lock_not_owned(operation);
    return *lock.mutex();
  }

  // Returns whether the task was notified.
  bool wait_to(const scheduler::wait_record& operation, std::unique_lock<mutex>& lock,
               sync::deadline when) {
    mutex* const m = &owned(operation.construct, lock);
    bool notified = false;
    if (when <= scheduler::time_of_task()) {
      m->release();
      // So a loop over such waits lets other tasks make its condition true.
      scheduler::yield();
    } else {
      sync::queued_task me;
      notified = sync::suspend_until(
          operation, guard_, when,
          [&](scheduler::fiber* self) {
            me.task = self;
            waiting_.push(me);
            return true;
          },
          [&] { return waiting_.remove(me); }, [m] { m->release(); });
    }
    m->lock(operation.where);
    return notified;
  }

  base::spin_lock guard_;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0

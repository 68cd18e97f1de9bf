// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/timed_wait.hpp>
#include <apgas/sync/wait_queue.hpp>

namespace apgas::inline v0 {

namespace sync {

// These throw illegal_operation: the mutex is not held in the way that is to be released.
APGAS_API [[noreturn]] void throw_not_exclusive();
APGAS_API [[noreturn]] void throw_not_shared();

}  // namespace sync

// A mutex for readers and writers: one task holds it exclusively, or any number of tasks share it.
// std::shared_timed_mutex for tasks. A task that waits suspends and does not block its worker, and
// a holder may suspend while it holds the mutex. std::lock_guard, std::unique_lock and
// std::shared_lock work with it. It is not recursive, not even for readers, and it belongs to its
// place.
//
//   apgas::shared_mutex m;
//   std::map<int, job> jobs;                                     // guarded by m
//   const auto find = [&](int id) {
//     const std::shared_lock hold(m);                            // many tasks at a time
//     return jobs.at(id);
//   };
//   const auto add = [&](int id, job j) {
//     const std::unique_lock hold(m);                            // alone
//     jobs.emplace(id, j);
//   };
//
//   const auto in_a_moment = std::chrono::steady_clock::now() + 1ms;
//   m.lock();                                                    // what the locks above call
//   m.unlock();
//   if (m.try_lock()) m.unlock();
//   if (m.try_lock_for(1ms)) m.unlock();
//   if (m.try_lock_until(in_a_moment)) m.unlock();
//   m.lock_shared();
//   m.unlock_shared();
//   if (m.try_lock_shared()) m.unlock_shared();
//   if (m.try_lock_shared_for(1ms)) m.unlock_shared();
//   if (m.try_lock_shared_until(in_a_moment)) m.unlock_shared();
//
// It is served strictly first come first served, and handed over directly: readers that came one
// after the other share it as a group, and a reader that comes while a writer waits queues behind
// that writer. So neither readers nor writers starve. The price is that a mutex which many tasks
// lock exclusively changes hands at each turn; where there are hardly any readers, `mutex` is
// faster.
//
// A task that acquires the mutex exclusively sees everything that its earlier holders wrote before
// they released it; a task that shares it sees what earlier exclusive holders wrote.
//
//   holders_   written under guard_: the number of tasks that share the mutex; -1: one task holds
//              it exclusively
//
// Invariants
//   I1  When guard_ is free, the first task in the queue cannot proceed: it wants the mutex
//       exclusively and the mutex is held, or it wants to share it and the mutex is held
//       exclusively. A task that leaves the queue because its time is over restores this itself.
//
// Requires, when it is destroyed: no task holds it or waits for it.
class shared_mutex {
 public:
  // Makes a mutex that nobody holds. Throws nothing. Context: any thread, also outside apgas::run.
  shared_mutex() = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  // Acquires the mutex exclusively; waits while other tasks hold it or came before.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker. Cost: one short lock if it is free.
  void lock(scheduler::call_site where = scheduler::call_site::current()) {
    const scheduler::fiber& self = sync::suspendable_fiber("shared_mutex::lock");
    if (try_lock_by(&self)) return;
    waiter me(true);
    sync::queue_unless({"shared_mutex::lock", this, where, explain}, guard_, waiting_, me,
                       [&] { return take(&self); });
  }

  // Acquires the mutex exclusively if no task holds it, and returns whether it did. Context: any
  // thread; does not suspend.
  [[nodiscard]] bool try_lock() noexcept { return try_lock_by(scheduler::current_fiber()); }

  // Acquires the mutex exclusively; waits for at most the duration d. Returns whether it acquired
  // the mutex. A duration of zero or less does not suspend; one of more than a century means for
  // ever. A mutex that is handed to the task is acquired, even if the time is over by then.
  // Throws: as lock; std::bad_alloc. Context: as lock.
  // Cost: if it must wait, an allocation and two short locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& d,
                                  scheduler::call_site where = scheduler::call_site::current()) {
    return lock_until({"shared_mutex::try_lock_for", this, where, explain}, sync::deadline_in(d));
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t,
                                    scheduler::call_site where = scheduler::call_site::current()) {
    return sync::attempt_until(t, [this, where](sync::deadline when) {
      return lock_until({"shared_mutex::try_lock_until", this, where, explain}, when);
    });
  }

  // Releases the mutex, and hands it to the next waiting task or group of readers.
  // Throws: illegal_operation if no task holds the mutex exclusively.
  // Context: any task, not necessarily the one that locked it; does not suspend.
  void unlock() {
    sync::resume_list next;
    {
      std::lock_guard hold(guard_);
      if (holders_ != exclusive) [[unlikely]]
        sync::throw_not_exclusive();
      holders_ = 0;
      pass_on(next);
    }
    next.resume_all();
  }

  // Acquires the mutex together with other readers; waits while a task holds it exclusively or
  // waits for that. Throws, Context, Cost: as lock.
  void lock_shared(scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("shared_mutex::lock_shared");
    if (try_lock_shared()) return;
    waiter me(false);
    sync::queue_unless({"shared_mutex::lock_shared", this, where, explain}, guard_, waiting_, me,
                       [this] { return take_shared(); });
  }

  // Acquires the mutex together with other readers if that needs no wait, and returns whether it
  // did. Context: any thread; does not suspend.
  [[nodiscard]] bool try_lock_shared() noexcept {
    std::lock_guard hold(guard_);
    return take_shared();
  }

  // Acquires the mutex together with other readers; waits for at most the duration d, or until
  // `Clock` shows the time t. Returns whether it acquired the mutex. Throws, Context, Cost: as
  // try_lock_for and try_lock_until.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(
      const std::chrono::duration<Rep, Period>& d,
      scheduler::call_site where = scheduler::call_site::current()) {
    return share_until({"shared_mutex::try_lock_shared_for", this, where, explain},
                       sync::deadline_in(d));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(
      const std::chrono::time_point<Clock, Duration>& t,
      scheduler::call_site where = scheduler::call_site::current()) {
    return sync::attempt_until(t, [this, where](sync::deadline when) {
      return share_until({"shared_mutex::try_lock_shared_until", this, where, explain}, when);
    });
  }

  // Ends the share of one task. The last one hands the mutex to the next waiting task.
  // Throws: illegal_operation if no task shares the mutex.
  // Context: any task, not necessarily the one that locked it; does not suspend.
  void unlock_shared() {
    sync::resume_list next;
    {
      std::lock_guard hold(guard_);
      if (holders_ <= 0) [[unlikely]]
        sync::throw_not_shared();
      --holders_;
      pass_on(next);
    }
    next.resume_all();
  }

 private:
  static constexpr std::ptrdiff_t exclusive = -1;

  struct waiter : sync::queued_task {
    explicit waiter(bool writes) noexcept : writer(writes) {}
    const bool writer;
  };

  bool take(const scheduler::fiber* by) noexcept {
    if (holders_ != 0) return false;
    holders_ = exclusive;
    writer_ = by;
    return true;
  }

  bool try_lock_by(const scheduler::fiber* by) noexcept {
    std::lock_guard hold(guard_);
    return take(by);
  }

  bool take_shared() noexcept {
    if (holders_ == exclusive || !waiting_.empty()) return false;
    ++holders_;
    return true;
  }

  // Moves the waiting tasks that may proceed to `next`, as holders. Requires: guard_ is held.
  void pass_on(sync::resume_list& next) noexcept {
    while (!waiting_.empty()) {
      const bool writer = static_cast<waiter*>(waiting_.front())->writer;
      if (writer ? holders_ != 0 : holders_ == exclusive) return;
      holders_ = writer ? exclusive : holders_ + 1;
      if (writer) writer_ = waiting_.front()->task;
      next.push(*waiting_.pop());
    }
  }

  bool lock_until(const scheduler::wait_record& operation, sync::deadline when) {
    const scheduler::fiber& self = sync::suspendable_fiber(operation.construct);
    if (try_lock_by(&self)) return true;
    waiter me(true);
    if (sync::queue_until(operation, guard_, waiting_, me, when, [&] { return take(&self); }))
      return true;
    sync::resume_list next;  // readers that waited behind this writer only
    {
      std::lock_guard hold(guard_);
      pass_on(next);
    }
    next.resume_all();
    return false;
  }

  bool share_until(const scheduler::wait_record& operation, sync::deadline when) {
    sync::suspendable_fiber(operation.construct);
    if (try_lock_shared()) return true;
    waiter me(false);
    return sync::queue_until(operation, guard_, waiting_, me, when,
                             [this] { return take_shared(); });
  }

  // For the watchdog: the waiting tasks need the one that holds the mutex exclusively.
  APGAS_API static void explain(const scheduler::wait_record& waits_for,
                                scheduler::wait_explainer& to);

  base::spin_lock guard_;
  std::ptrdiff_t holders_ = 0;
  const scheduler::fiber* writer_ = nullptr;  // of the last one that held it exclusively
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0

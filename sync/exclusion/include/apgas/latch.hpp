// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

#include <apgas/base/api.hpp>
#include <apgas/semaphore.hpp>

namespace apgas::inline v0 {

namespace sync {

// Throws illegal_operation: `given` exceeds what is left of the count.
APGAS_API [[noreturn]] void throw_latch_below_zero(std::ptrdiff_t left, std::ptrdiff_t given);

}  // namespace sync

// A countdown that is used once: tasks wait until it has reached zero. std::latch for tasks. It
// belongs to its place and cannot be sent to another.
//
//   apgas::latch ready(4);
//   for (int i = 0; i < 4; ++i) apgas::async([&] { prepare(); ready.count_down(); });
//   while (!ready.try_wait_for(100ms)) std::cerr << "still waiting\n";
//   const bool in_time = ready.try_wait_until(std::chrono::steady_clock::now() + 1s);
//   ready.wait();
//   assert(in_time && ready.try_wait());
//
//   apgas::latch all(4);                        // as a barrier that is used once
//   apgas::coforall(0, 4, [&](int i) {
//     work(i);
//     all.arrive_and_wait();
//     work(i);
//   });
//
// Requires, when it is destroyed: the waits with a time limit have returned.
class latch {
 public:
  // Starts the count at `expected` arrivals. Throws: illegal_operation if that is negative.
  // Context: any thread.
  explicit latch(std::ptrdiff_t expected) : left_(expected) {
    if (expected < 0) sync::throw_negative("latch", expected);
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  // Lowers the count by n arrivals, and resumes the waiting tasks when it reaches zero.
  // Throws: illegal_operation if n is negative or exceeds the count.
  // Context: any thread; does not suspend. Cost: one short lock.
  void count_down(std::ptrdiff_t n = 1) {
    if (n < 0) sync::throw_negative("latch::count_down", n);
    sync::resume_list released;
    {
      std::lock_guard hold(guard_);
      if (n > left_) [[unlikely]]
        sync::throw_latch_below_zero(left_, n);
      left_ -= n;
      if (left_ == 0) waiting_.pop_all(released);
    }
    released.resume_all();
  }

  // Returns whether the count is zero. Context: any thread; does not suspend.
  [[nodiscard]] bool try_wait() noexcept {
    std::lock_guard hold(guard_);
    return left_ == 0;
  }

  // Waits until the count is zero. The task then sees everything that was written before each
  // count_down. Afterwards the latch may be destroyed, even if the last count_down has not yet
  // returned.
  // Throws: illegal_operation outside a task and inside `atomic` or `when`.
  // Context: task. May suspend and resume on another worker.
  // Cost: one short lock; if it must wait, another one and a suspension.
  void wait(scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("latch::wait");
    if (try_wait()) return;
    sync::queue_unless({"latch::wait", this, where}, guard_, waiting_,
                       [this] { return left_ == 0; });
  }

  // Waits until the count is zero, for at most the duration d, and returns whether it is. A
  // duration of zero or less does not suspend; one of more than a century means for ever. Throws:
  // as wait; std::bad_alloc. Context: as wait. Cost: if it must wait, an allocation and two short
  // locks of the scheduler.
  template <class Rep, class Period>
  [[nodiscard]] bool try_wait_for(const std::chrono::duration<Rep, Period>& d,
                                  scheduler::call_site where = scheduler::call_site::current()) {
    return wait_until({"latch::try_wait_for", this, where}, sync::deadline_in(d));
  }

  // The same until `Clock` shows the time t. If the clock is set back meanwhile, the task waits
  // again for the rest.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_wait_until(const std::chrono::time_point<Clock, Duration>& t,
                                    scheduler::call_site where = scheduler::call_site::current()) {
    return sync::attempt_until(t, [this, where](sync::deadline when) {
      return wait_until({"latch::try_wait_until", this, where}, when);
    });
  }

  // Lowers the count by n arrivals and waits until it is zero. Throws, Context, Cost: as count_down
  // and wait.
  void arrive_and_wait(std::ptrdiff_t n = 1,
                       scheduler::call_site where = scheduler::call_site::current()) {
    sync::suspendable_fiber("latch::arrive_and_wait");
    count_down(n);
    wait(where);
  }

 private:
  bool wait_until(const scheduler::wait_record& operation, sync::deadline when) {
    sync::suspendable_fiber(operation.construct);
    return try_wait() ||
           sync::queue_until(operation, guard_, waiting_, when, [this] { return left_ == 0; });
  }

  base::spin_lock guard_;
  std::ptrdiff_t left_;
  sync::wait_queue waiting_;
};

}  // namespace apgas::inline v0

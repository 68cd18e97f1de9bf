// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/handoff.hpp>

// The lock behind atomic, when and monitor. A task that finds the monitor held, or its condition
// false, leaves its critical section here as a closure and suspends. The task that leaves the
// monitor tests the waiting conditions and runs every section that may proceed, under the lock and
// with the identity of the waiting task, which it resumes when the section is over. This is flat
// combining (Hendler et al., SPAA 2010) applied to the when-queue of "A work-stealing scheduler for
// X10", section 6.1. No task is resumed in vain, and a contended monitor changes hands without a
// switch of stacks.
//
//              written by              read by
//   lock_      guards held_ and arrived_; never held while user code runs
//   held_      the holder of lock_     the holder of lock_
//   arrived_   the holder of lock_     the holder of lock_
//   owner_     the monitor's holder    any task, which compares it with itself only
//   waiting_   the monitor's holder    the monitor's holder
//   counters_  the monitor's holder    any thread
//
// Invariants
//   I1  waiting_ holds the sections whose conditions were false when last tested, oldest first.
//       Since then nothing was changed under the monitor, or its holder is about to test them
//       again.
//   I2  A monitor that is not held has no arrived sections, because a task that arrives at a free
//       monitor takes it.
//   I3  A section is accessed by its own task before submit() and after `done`, and by the holder
//       of the monitor in between.
namespace apgas::inline v0::sync {

// A critical section that its task could not begin by itself. It lives on the stack of that task.
struct waiting_section {
  bool (*condition)(waiting_section&) = nullptr;  // null: always true
  void (*body)(waiting_section&) = nullptr;

  scheduler::fiber* task = nullptr;  // the task that waits
  std::exception_ptr error;          // thrown by the condition or the body
  bool granted = false;              // the task was given the monitor and runs the section itself
  waiting_section* next = nullptr;
  handoff done;  // signalled when the section has been run or granted
};

class monitor_core {
 public:
  monitor_core() = default;
  monitor_core(const monitor_core&) = delete;
  monitor_core& operator=(const monitor_core&) = delete;

  // Returns whether `self` holds this monitor, so that a section nested in its own one may begin.
  // Context: task.
  bool held_by(const scheduler::fiber& self) const noexcept {
    return owner_.load(base::relaxed) == &self;
  }

  // Takes the monitor if it is free, and returns whether it did. Context: task that does not hold
  // it.
  [[nodiscard]] bool try_enter(scheduler::fiber& self) noexcept {
    lock_.lock();
    const bool entered = !held_;
    held_ = true;
    lock_.unlock();
    if (entered) own(self);
    return entered;
  }

  // Runs the waiting sections that may proceed, and releases the monitor.
  // Context: task that holds the monitor. May suspend and resume on another worker, when a section
  // that it runs waits for another monitor.
  APGAS_API void leave(scheduler::fiber& self) noexcept;

  // Hands the section over and waits until it has been run, by the calling task or by another.
  // Throws: what the condition or the body threw.
  // Context: task that does not hold the monitor. May suspend and resume on another worker.
  APGAS_API void submit(scheduler::fiber& self, waiting_section& s,
                        const scheduler::call_site& where);
  // The same for the holder of the monitor, whose condition was false. Releases the monitor.
  APGAS_API void wait(scheduler::fiber& self, waiting_section& s,
                      const scheduler::call_site& where);

  // Counters of what happened so far, for tests. Context: any thread; exact while the monitor is
  // idle.
  struct counts {
    std::uint64_t entered = 0;  // times that a task took the monitor, or was granted it
    std::uint64_t tested = 0;   // conditions evaluated for waiting tasks
    std::uint64_t run = 0;      // sections run on behalf of another task
    std::uint64_t passed = 0;   // times that the monitor was granted to a waiting task
  };
  counts count() const noexcept;

 private:
  friend struct lock_test_access;  // the test that unrelated constructs share no lock

  struct counters {
    base::atomic<std::uint64_t> entered{0}, tested{0}, run{0}, passed{0};
  };
  static void count_one(base::atomic<std::uint64_t>& n) noexcept {
    n.store(n.load(base::relaxed) + 1, base::relaxed);
  }

  void own(scheduler::fiber& self) noexcept {
    owner_.store(&self, base::relaxed);
    count_one(counters_.entered);
  }
  bool give_up() noexcept;
  waiting_section* take_runnable(scheduler::fiber& self, waiting_section**& tested_to) noexcept;
  bool test(scheduler::fiber& self, waiting_section& s) noexcept;
  void run_for(scheduler::fiber& self, waiting_section& s) noexcept;
  void join(scheduler::fiber& self, waiting_section& s, const scheduler::call_site& where);
  // For the watchdog: the waiting tasks need the one that holds the monitor.
  static void explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to);

  // Guarded by lock_.
  base::spin_lock lock_;
  bool held_ = false;
  waiting_section* arrived_ = nullptr;
  waiting_section** arrived_end_ = &arrived_;

  // Written by the holder of the monitor.
  base::atomic<scheduler::fiber*> owner_{nullptr};
  waiting_section* waiting_ = nullptr;
  waiting_section** waiting_end_ = &waiting_;
  counters counters_;
};

}  // namespace apgas::inline v0::sync

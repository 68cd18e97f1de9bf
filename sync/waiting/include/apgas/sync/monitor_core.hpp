// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/section_lock.hpp>
#include <apgas/sync/section_queue.hpp>

// The lock behind atomic, when and monitor. A task that finds the monitor held, or its condition
// false, leaves its critical section here as a closure and suspends. The task that leaves the
// monitor tests the waiting conditions and runs every section that may proceed, under the lock and
// with the identity of the waiting task, which it resumes when the section is over. This is flat
// combining (Hendler et al., SPAA 2010) applied to the when-queue of "A work-stealing scheduler for
// X10", section 6.1. No task is resumed in vain, and a contended monitor changes hands without a
// switch of stacks.
//
//              written by              read by
//   lock_      section_lock.hpp
//   waiting_   the monitor's holder    the monitor's holder
//   counters_  the monitor's holder    any thread
//
// Invariants
//   I1  A section is accessed by its own task before submit() and after `done`, and by the holder
//       of the monitor in between.
namespace apgas::inline v0::sync {

class monitor_core {
 public:
  monitor_core() = default;
  monitor_core(const monitor_core&) = delete;
  monitor_core& operator=(const monitor_core&) = delete;

  // Returns whether `self` holds this monitor, so that a section nested in its own one may begin.
  // Context: task.
  bool held_by(const scheduler::fiber& self) const noexcept { return lock_.holder() == &self; }

  // Takes the monitor if it is free, and returns whether it did. Context: task that does not hold
  // it.
  [[nodiscard]] bool try_enter(scheduler::fiber& self) noexcept {
    const bool entered = lock_.try_enter(&self);
    if (entered) add(counters_.entered);
    return entered;
  }

  // Runs the waiting sections that may proceed, and releases the monitor.
  // Context: task that holds the monitor. May suspend and resume on another worker, when a section
  // that it runs waits for another monitor.
  void leave(scheduler::fiber& self) noexcept {
    if (waiting_.none_to_test() && lock_.try_leave(&self)) [[likely]]
      return;
    run_others_and_leave(self);
  }

  // The conditions in this queue, which is one of a watched cell, are to be tested when the section
  // ends. Context: task that holds the monitor.
  void mark(section_queue& q) noexcept { waiting_.mark(q); }

  // Waits until the section has been run, by the calling task or by another. One without a
  // condition is only handed over if the monitor stays taken for some microseconds. Throws: what
  // the condition or the body threw. Context: task that does not hold the monitor. May suspend and
  // resume on another worker.
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
  struct counters {
    base::atomic<std::uint64_t> entered{0}, tested{0}, run{0}, passed{0};
  };
  static void add(base::atomic<std::uint64_t>& n, std::uint64_t more = 1) noexcept {
    n.store(n.load(base::relaxed) + more, base::relaxed);
  }

  APGAS_API void run_others_and_leave(scheduler::fiber& self) noexcept;
  waiting_section* next_runnable(scheduler::fiber& self) noexcept;
  void run_for(scheduler::fiber& self, waiting_section& s) noexcept;
  void run_as_holder(scheduler::fiber& self, waiting_section& s);
  void join(scheduler::fiber& self, waiting_section& s, const scheduler::call_site& where);
  // For the watchdog: the waiting tasks need the one that holds the monitor.
  static void explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to);

  section_lock<waiting_section> lock_;
  waiting_sections waiting_;
  counters counters_;
};

}  // namespace apgas::inline v0::sync

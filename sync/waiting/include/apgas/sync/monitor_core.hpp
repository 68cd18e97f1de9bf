// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/handoff.hpp>

// The lock behind atomic, when and monitor. Who leaves a monitor does not wake those that wait: it
// runs their sections for them, under the lock and as them, and wakes each when its section is
// over ("A work-stealing scheduler for X10", 6.1: the when-queue). So no task is woken in vain, and
// a contended monitor changes hands without a switch of stacks.
//
//              written by                   read by
//   lock_      guards held_, arrived_...; never held across user code
//   held_      lock_ holder
//   arrived_   lock_ holder
//   owner_     who holds the monitor        anybody, compared with itself only
//   waiting_   who holds the monitor        the same
//   counts_    who holds the monitor        anybody
//
// Invariants
//   I1  waiting_ holds sections whose conditions were false when last tested, oldest first; nothing
//       was changed under the monitor since, or its holder is about to test them again.
//   I2  A monitor that is not held has no arrived sections: an arrival of then takes it.
//   I3  A section is touched by its task before submit and after done, by the holder between them.
namespace apgas::inline v0::sync {

// A section that its task could not begin by itself. Lives on the stack of that task.
struct waiting_section {
  bool (*condition)(waiting_section&) = nullptr;  // null: true
  void (*body)(waiting_section&) = nullptr;

  scheduler::fiber* task = nullptr;
  std::exception_ptr error;
  bool granted = false;  // the monitor was passed to the task: it runs the section itself
  waiting_section* next = nullptr;
  handoff done;
};

class monitor_core {
 public:
  monitor_core() = default;
  monitor_core(const monitor_core&) = delete;
  monitor_core& operator=(const monitor_core&) = delete;

  // Whether the running section of `self` is one of this monitor. Context: task.
  bool held_by(const scheduler::fiber& self) const noexcept {
    return owner_.load(base::relaxed) == &self;
  }

  // Takes the monitor if it is free. Context: task that does not hold it.
  [[nodiscard]] bool try_enter(scheduler::fiber& self) noexcept {
    lock_.lock();
    const bool entered = !held_;
    held_ = true;
    lock_.unlock();
    if (entered) own(self);
    return entered;
  }

  // Runs the sections that can go on now, and gives the monitor up. Context: task that holds it;
  // may suspend and resume elsewhere if sections of others do.
  void leave(scheduler::fiber& self) noexcept;

  // Waits until the section has been run by somebody. Throws: what condition or body threw.
  // Context: task that does not hold the monitor. May resume elsewhere.
  void submit(scheduler::fiber& self, waiting_section& s);
  // The same for the holder, whose condition was false: the monitor is given up.
  void wait(scheduler::fiber& self, waiting_section& s);

  // What happened so far. Context: any thread; exact when the monitor is at rest.
  struct counts {
    std::uint64_t entered = 0;  // times that the lock was taken, for whatever reason
    std::uint64_t tested = 0;   // conditions evaluated
    std::uint64_t run = 0;      // sections run for a task that waited
    std::uint64_t passed = 0;   // times that the lock was passed to a waiting task
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
  void join(scheduler::fiber& self, waiting_section& s);

  base::spin_lock lock_;
  bool held_ = false;
  waiting_section* arrived_ = nullptr;
  waiting_section** arrived_end_ = &arrived_;

  base::atomic<scheduler::fiber*> owner_{nullptr};
  waiting_section* waiting_ = nullptr;
  waiting_section** waiting_end_ = &waiting_;
  counters counters_;
};

}  // namespace apgas::inline v0::sync

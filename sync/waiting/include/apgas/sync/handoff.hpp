// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/atomic.hpp>
#include <apgas/scheduler/worker.hpp>

// Lets one task wait for one event. The event may come before the task has left its stack, so both
// sides arrive here, and the side that arrives second resumes the task.
//
//   fiber_     written by the task before it arrives, read by the side that arrives second
//   missing_   written by both sides
//
// Pairs
//   P1  The side that arrives second sees everything the first side did before it arrived: fiber_,
//       or the writes before the event.
namespace apgas::inline v0::sync {

class handoff {
 public:
  handoff() = default;
  handoff(const handoff&) = delete;
  handoff& operator=(const handoff&) = delete;

  // Returns whether the event has come, so that wait() would return at once. Context: task.
  bool signalled() const noexcept { return missing_.load(base::acquire) == 1; }  // P1

  // Suspends the task until signal() is called. `waits_for` is as for scheduler::suspend.
  // Context: the waiting task, once. May suspend and resume on another worker.
  void wait(const scheduler::wait_record& waits_for) noexcept {
    if (signalled()) return;
    scheduler::suspend(waits_for, [this](scheduler::fiber* self) {
      fiber_ = self;
      arrive();
    });
  }

  // Reports the event. Once wait() may have returned, this call no longer touches the object, so
  // the task may destroy it. Context: any thread, once.
  void signal() noexcept { arrive(); }

 private:
  void arrive() noexcept {
    if (missing_.fetch_sub(1, base::acq_rel) == 1) scheduler::resume(fiber_);  // P1
  }

  scheduler::fiber* fiber_ = nullptr;
  base::atomic<int> missing_{2};
};

}  // namespace apgas::inline v0::sync

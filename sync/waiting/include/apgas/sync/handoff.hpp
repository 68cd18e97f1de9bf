// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/atomic.hpp>
#include <apgas/scheduler/worker.hpp>

// A task that waits for one event which may come before the task has left its stack: whoever comes
// second, the task or the event, resumes it.
//
//   fiber_     written by the task before it arrives, read by who comes second
//   missing_   written by both
//
// Pairs
//   P1  What came before the first arrival (fiber_, the event) is visible to the second.
namespace apgas::inline v0::sync {

class handoff {
 public:
  handoff() = default;
  handoff(const handoff&) = delete;
  handoff& operator=(const handoff&) = delete;

  // Whether wait() would return at once. Context: task.
  bool signalled() const noexcept { return missing_.load(base::acquire) == 1; }  // P1

  // Suspends until signal(). `waits_for`: as scheduler::suspend. Context: task, once. May resume
  // elsewhere.
  void wait(const char* waits_for) noexcept {
    if (signalled()) return;
    scheduler::suspend(waits_for, [this](scheduler::fiber* self) {
      fiber_ = self;
      arrive();
    });
  }

  // Does not touch this object when wait() may have returned. Context: any thread, once.
  void signal() noexcept { arrive(); }

 private:
  void arrive() noexcept {
    if (missing_.fetch_sub(1, base::acq_rel) == 1) scheduler::resume(fiber_);  // P1
  }

  scheduler::fiber* fiber_ = nullptr;
  base::atomic<int> missing_{2};
};

}  // namespace apgas::inline v0::sync

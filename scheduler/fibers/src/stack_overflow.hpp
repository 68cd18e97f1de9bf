// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/fiber.hpp>

// Reports which task overflowed its stack. An access to the guard of a stack faults. The signal
// handler runs on the signal stack of the worker, and finds there which fiber the worker was
// running. It does not identify the fiber by the fault address, because a large frame may have
// stepped over the guard of its own stack into another one. Other faults are passed on to the
// handler that was installed before (UCX and Open MPI have handlers of their own).
namespace apgas::inline v0::scheduler {

// Installs the handler, once per process. Context: any thread.
void catch_overflows() noexcept;

// Gives the calling worker thread a signal stack for the lifetime of the object. `running` is the
// variable in which the worker records the fiber that it runs; while `searches` is true, it runs no
// task. Without memory for it, an overflow
// ends the process without a report.
class signal_stack {
 public:
  signal_stack(const base::atomic<const fiber*>& running, const base::atomic<bool>& searches);
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  void* memory_;
};

// Prints the name and spawn site of the task that runs on `f` and the setting to raise, and aborts
// the process.
[[noreturn]] void report_overflow(const fiber& f) noexcept;

}  // namespace apgas::inline v0::scheduler

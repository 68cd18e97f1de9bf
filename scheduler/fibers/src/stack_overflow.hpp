// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/fiber.hpp>

// Telling the user which task overflowed its stack. A guard page faults: the handler, on the signal
// stack of its worker, finds the task that runs there. Not by the address: a large frame may have
// stepped over the guard of its own stack. Other faults go on to the handler that was there before
// (UCX and Open MPI have theirs).
namespace apgas::inline v0::scheduler {

// Installs the handler, once per process. Context: any thread.
void catch_overflows() noexcept;

// Gives this worker thread its signal stack for as long as the object lives. `running` is where the
// worker notes the fiber that it runs.
class signal_stack {
 public:
  explicit signal_stack(const fiber* const& running);
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  void* memory_;
};

// Prints which task, where it was spawned and the setting, and ends the process.
[[noreturn]] void report_overflow(const fiber& f) noexcept;

}  // namespace apgas::inline v0::scheduler

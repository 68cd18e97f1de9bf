// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/fiber.hpp>

// Telling the user which task overflowed its stack. A guard page faults: the handler, on a stack of
// its own, finds the task from the address. Other faults go on to the handler that was there before
// (UCX and Open MPI have theirs).
namespace apgas::inline v0::scheduler {

// Installs the handler, once per process. Context: any thread.
void watch_overflows() noexcept;

// Gives this worker thread its signal stack for as long as the object lives.
class signal_stack {
 public:
  signal_stack();
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  void* memory_;
};

// Prints which task, where it was spawned and the setting, and ends the process.
[[noreturn]] void report_overflow(const fiber& f) noexcept;

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

// Where a thread of this process is. For reports about tasks that run for long.
namespace apgas::inline v0::scheduler {

struct thread_stack {
  // An address in each function, from the innermost on; at most 64. Empty if they are not known.
  std::vector<std::uintptr_t> frames;
  bool in_system_call = false;  // the thread sleeps in one, which the look would have interrupted
};

// Interrupts the thread with SIGURG, whose handler notes where the thread is. While it does so, the
// process has that handler; SIGURG is ignored before and after. A program that handles SIGURG
// itself keeps its handler, and the answer is empty. It is empty, too, if the thread does not
// answer within 500 ms.
// A thread that sleeps in a system call is interrupted only if the call is a wait without a
// timeout, for example for a mutex, which the system continues afterwards. A thread that enters a
// call between the look and the signal may see EINTR.
// Throws: std::bad_alloc. Context: any thread but `thread`.
thread_stack stack_of_thread(pid_t thread);

}  // namespace apgas::inline v0::scheduler

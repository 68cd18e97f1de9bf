// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <apgas/scheduler/scheduler.hpp>

#include "suspended_tasks.hpp"

// What a worker runs, for reports.
namespace apgas::inline v0::scheduler {

// The task that the worker has been running since it was seen in this state, or the last of several
// that were spawned at one line and that it ran one after the other; empty if it sleeps or is in
// its scheduling loop. Throws: std::bad_alloc. Context: any thread.
std::string running_text(const worker& w, const worker_state& seen, bool sleeps);

// In which function of the program the worker is, with a backtrace, as the end of a line about its
// task; empty if that is not known, or if it no longer runs the task that it ran when it was
// `seen`. Interrupts the worker (thread_stack.hpp). Throws: std::bad_alloc. Context: a thread that
// is not a worker.
std::string position_text(scheduler::implementation& s, std::size_t worker,
                          const worker_state& seen);

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/scheduler.hpp>

// What happens when the process ends by std::exit while a program is active: static objects are
// about to be destroyed while tasks run, and other places may wait for this one.
//
//   - With one place the process ends with the code of the exit, and nothing is printed. The
//     workers are stopped first (scheduler::halt): before the first static object is destroyed
//     where a task or the function of `blocking` calls exit, and else in the order of the handlers.
//   - With several places a line says so, and the job ends.
//
// std::quick_exit and _exit run no destructors and nothing of this.
namespace apgas::inline v0::launch {

// Arranges that std::exit calls on_process_exit(), once in the life of the process.
void monitor_process_exit() noexcept;
// The same once more, after MPI has been started: MPI ends in a handler of exit, before which the
// workers must stop. Handlers run in the reverse order of their registration.
void monitor_process_exit_with_mpi() noexcept;

// Called in std::exit, by every handler. Does nothing when no program is active in this process.
void on_process_exit() noexcept;

// Whether this thread is in std::exit while a program of one place is active: its workers have
// stopped, so that it cannot be ended in order any more. On every other thread of such a process
// it does not return, since the process is about to end. Context: any thread.
bool process_is_exiting() noexcept;

// The workers of a program with one place, from its start until its end begins; null: none.
// Context: the thread that starts and ends the program.
void set_sole_place(scheduler::scheduler* workers) noexcept;

}  // namespace apgas::inline v0::launch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_phases.hpp>
#include <apgas/sync/remote_task.hpp>

// Transfers registrations to another place, with a task or with the body of an `at`, and back
// again.
//
// Wire: the registrations follow what the thunk or the caller reads: each
// `transferred_registration`, oldest first, then their number as u64. The reducer of a collecting
// finish comes after them. The frame has flag_registered.
namespace apgas::inline v0::sync {

// Sends a task with the registrations `transits`, which belong to the task from then on.
// Context: task. May suspend. Throws as send_task does; the registrations then still belong to the
// caller.
APGAS_API void send_registered_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                                    comm::out_archive& payload, std::span<const transit> transits);

// Sends the body of an `at` together with all registrations of the caller.
APGAS_API void send_call(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                         comm::out_archive& payload);
// After the call has returned: registers the caller as its body was registered at the end.
APGAS_API void take_registrations_back(scheduler::fiber& self, suspended_call& call);
inline void after_call(suspended_call& call) {
  if (call.brings_registrations()) [[unlikely]]
    take_registrations_back(*scheduler::current_fiber(), call);
}

// At the receiving place. run_registered() runs a frame that came with registrations.
// give_back_registrations() appends the registrations of the task to `value`; it returns false if
// the task has none and came with none.
scheduler::task_counter* run_registered(remote_task& task, scheduler::fiber& self,
                                        task_thunk* thunk) noexcept;
bool give_back_registrations(scheduler::fiber& self, comm::out_archive& value);

// Removes the registrations from the end of a payload and returns them.
std::vector<transferred_registration> take_transferred(std::span<const std::byte>& payload);

}  // namespace apgas::inline v0::sync

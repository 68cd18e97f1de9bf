// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_phases.hpp>
#include <apgas/sync/remote_task.hpp>

// Registrations that go to another place with a task, or with the body of an at and back.
//
// Wire: behind what the thunk or the caller reads, each `travelling`, the oldest first, then how
// many as u64; before the reducer of a collecting finish. The frame has flag_registered.
namespace apgas::inline v0::sync {

// Sends a task that is registered by `tickets`, which are its own from then on.
// Context: task. May suspend. Throws as send_task; then they are still the caller's.
void send_registered_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                          comm::out_archive& payload, std::span<const transit> transits);

// Sends the body of an at; everything that the caller is registered on goes with it.
void send_call(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
               comm::out_archive& payload);
// The call has returned: the caller is registered as its body was at the end.
void take_registrations_back(scheduler::fiber& self, suspended_call& call);
inline void after_call(suspended_call& call) {
  if (call.brings_registrations()) [[unlikely]]
    take_registrations_back(*scheduler::current_fiber(), call);
}

// For the other side: runs a frame that came with registrations; and gives those of the task back,
// behind `value`. False: it has none, and came with none.
scheduler::task_counter* run_registered(remote_task& task, scheduler::fiber& self,
                                        task_thunk* thunk) noexcept;
bool give_back_registrations(scheduler::fiber& self, comm::out_archive& value);

// Takes the registrations off the end of a payload.
std::vector<transferred_registration> take_transferred(std::span<const std::byte>& payload);

}  // namespace apgas::inline v0::sync

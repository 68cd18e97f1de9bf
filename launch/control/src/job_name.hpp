// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

#include <apgas/comm/rank.hpp>

// How tools name a job, and the name of the socket of a process.
namespace apgas::inline v0::launch {

// Returns what the launcher calls the job, which is the same in all its processes: the job id of
// Slurm with the step, or the namespace of PMIx, as Open MPI has it. A process without a launcher
// is a job of its own, whose name is its process id. `variable` returns a variable of the
// environment, or null.
std::string job_name(const std::function<const char*(const char*)>& variable, pid_t process);

// The name in the abstract namespace: apgas/<user id>/<job>/<place>/<process id>.
std::string control_address(uid_t user, const std::string& job, comm::rank place, pid_t process);

}  // namespace apgas::inline v0::launch

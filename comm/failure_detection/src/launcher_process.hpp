// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process that started this one: mpirun, its daemon on another host, or Slurm's. A place does
// not outlive it.

#include "detector_sockets.hpp"

namespace apgas::inline v0::comm {

// From now on the kernel kills this process when its launcher ends, provided that the launcher's
// main thread created it. The kernel sends the signal when the creating thread ends, and Open MPI
// creates many places with short-lived threads.
// Context: before other threads exist.
void end_with_launcher() noexcept;

// Whether this process is in the same user, pid and ipc namespaces as its launcher. Each place of a
// job may be in a container of its own otherwise, where the places of a host cannot open each
// other's memory, and numbers of processes and of System V memory mean something else to each of
// them. Where the launcher cannot be found, the answer is that they are the same, unless this
// process is in a container.
bool in_namespaces_of_launcher();

// A descriptor that becomes readable when the launcher ends; empty if the kernel does not support
// it.
descriptor monitor_launcher() noexcept;

// Starts a process that kills the launcher if it still runs after some seconds and belongs to Open
// MPI, which otherwise waits for minutes for a host that does not answer.
void end_launcher_if_it_stays() noexcept;

}  // namespace apgas::inline v0::comm

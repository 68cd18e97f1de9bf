// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process that started this one: mpirun, or its daemon on another host, or Slurm's. A place
// does not outlive it.

#include "detector_sockets.hpp"

namespace apgas::inline v0::comm {

// The kernel ends this process with its launcher, from now on, where the thread that made it is the
// launcher's main one: the signal comes when that thread ends, and Open MPI makes many places by
// threads that end before. Context: before other threads.
void end_with_launcher() noexcept;

// Can be read when the launcher has ended; none where the kernel does not tell.
descriptor monitor_launcher() noexcept;

// Leaves a process behind that ends the launcher, if that is Open MPI's, when it is still there
// some seconds later: with a host that does not answer, Open MPI waits for it for minutes.
void end_launcher_if_it_stays() noexcept;

}  // namespace apgas::inline v0::comm

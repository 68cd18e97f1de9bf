// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace apgas::inline v0::launch {

// What Open MPI leaves when its mpirun is killed: its folder for the job, and memory of the places
// in /dev/shm, 4 MiB each. Removes them, on this host. Requires: that mpirun has ended.
void remove_left_files(pid_t mpirun) noexcept;

}  // namespace apgas::inline v0::launch

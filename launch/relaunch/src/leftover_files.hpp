// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace apgas::inline v0::launch {

// What Open MPI leaves on this host when its mpirun is killed: the folder of the job in TMPDIR.
// Removes it. Requires: that mpirun has ended.
void remove_leftover_files(pid_t mpirun);

}  // namespace apgas::inline v0::launch

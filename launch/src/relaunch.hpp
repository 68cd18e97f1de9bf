// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting the same command line again, on several places.
namespace apgas::inline v0::launch {

// Becomes `mpirun -n places <this command line>`, with what this user and machine need.
// Throws: launch_error when there is no mpirun or it cannot be started.
[[noreturn]] void relaunch(int places, int argc, char** argv);

}  // namespace apgas::inline v0::launch

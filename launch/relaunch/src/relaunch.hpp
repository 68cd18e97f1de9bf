// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

// Starting the same command line again, on several places.
namespace apgas::inline v0::launch {

// Runs `mpirun -n places <this command line>` (Open MPI's), with what this user and machine need,
// hands on the signals that ask for the end, and exits with its code: 128 + the signal after such a
// signal, or when a signal ended a place, which one line says. Calls when_ended() before.
// Throws: launch_error when there is no mpirun, or no process for it.
[[noreturn]] void relaunch(int places, int argc, char** argv,
                           const std::function<void()>& when_ended);

}  // namespace apgas::inline v0::launch

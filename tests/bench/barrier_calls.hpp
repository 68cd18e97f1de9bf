// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ways to synchronise all places without a team, which team_bench measures beside MPI_Barrier. All
// functions are called by a task at place 0.

#include "harness.hpp"

namespace bench {

// A finish with a task at each place.
sample finishes_over_all(int rounds);
// A phase of a clock with a task at each place.
sample phases_over_all(int rounds);
// An `at` with 8 bytes to the last place and back.
sample calls_to_last(int rounds);

// The cores that all places together use while their tasks sleep or wait for `seconds`.
double idle_cores(double seconds, bool one_process);

}  // namespace bench

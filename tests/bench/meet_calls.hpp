// SPDX-License-Identifier: Apache-2.0
#pragma once

// What team_bench measures of all places meeting without a team, beside MPI_Barrier.

#include "harness.hpp"

namespace bench {

// A finish with a task at each place. Context of all: task of place 0.
sample finishes_over_all(int rounds);
// A phase of a clock with a task at each place.
sample phases_over_all(int rounds);
// An `at` of 8 bytes and back, to the last place.
sample calls_to_last(int rounds);

// The cores that all places need together while their tasks sleep or wait, the same `seconds` long.
double idle_cores(double seconds, bool one_process);

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ways to synchronise places without a team, which team_bench and place_bench measure. All
// functions are called by a task at place 0.

#include "harness.hpp"

namespace bench {

// A finish with a task at each place.
sample finishes_over_all(int rounds);
// `rounds` phases of a clock with a task at each of the first `places` places.
sample phases_over(int places, int rounds);
// An `at` with 8 bytes to the last place and back.
sample calls_to_last(int rounds);

// The cores that all places together use while their tasks sleep or wait for `seconds`.
double idle_cores(double seconds, bool one_process);

}  // namespace bench

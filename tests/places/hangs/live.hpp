// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cases.hpp"

// Programs that are slow but do not hang: in each of them there are moments in which no task can
// run until a timer, a call or a thread makes one ready. live_schedules.cpp runs them with many
// seeds, where a deadlock must never be found.
namespace apgas::test {

std::vector<hang_case> live_waits();       // each construct that waits, and what ends the wait late
std::vector<hang_case> live_structures();  // tasks that depend on each other in larger patterns
std::vector<hang_case> live_over_places();  // tasks of several places, all in one process

}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

// Programs whose schedules schedule_test.py records and repeats.
namespace apgas::test {

struct scheduled_case {
  std::string_view name;
  int (*run)();  // returns the exit code
};

// Programs that are right, and use most ways in which tasks wait and messages travel.
std::vector<scheduled_case> programs();
// Programs with a race that a usual run misses nearly always. If it strikes, they print what is
// wrong and return 3.
std::vector<scheduled_case> planted_races();

}  // namespace apgas::test

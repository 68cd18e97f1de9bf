// SPDX-License-Identifier: Apache-2.0
#pragma once

// Protocols at sizes that no machine here has: the real state machines over many simulated places
// in one thread. A workload is a program at a number of places; a protocol offers a list of them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// What the protocol itself sent; the messages of the program are not in it.
struct scale_result {
  std::int64_t task_frames = 0;  // of the program: tasks that went to another place
  std::int64_t frames = 0;
  std::int64_t to_home = 0;   // of these, received by place 0
  std::int64_t to_other = 0;  // received by the busiest other place
  std::int64_t bytes = 0;     // in and out at the busiest place
  std::int64_t depth = 0;     // messages one after the other, from the end of the last task
  double balance = 0;         // glb: least possible time over the time taken; else 0
  std::string wrong;          // what the checker or the workload found; "": nothing
};

struct workload {
  std::string protocol;
  std::string name;
  int most_places = 100'000;
  std::function<scale_result(int places)> run;
};

// scale_finish.cpp
std::vector<workload> finish_workloads();
// scale_phase.cpp
std::vector<workload> phase_workloads();
// scale_glb.cpp
std::vector<workload> glb_workloads();
// scale_team.cpp
std::vector<workload> team_workloads();
// scale_end.cpp
std::vector<workload> end_workloads();

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Protocols at sizes that no available machine has: the state machines of the product over many
// simulated places in one thread. A workload is a program for a number of places; each protocol has
// a list of them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// What the protocol itself sent. The messages of the program are not included.
struct scale_result {
  std::int64_t task_frames = 0;  // of the program: tasks sent to another place
  std::int64_t frames = 0;
  std::int64_t to_home = 0;   // how many of the frames place 0 received
  std::int64_t to_other = 0;  // received by the busiest other place
  std::int64_t bytes = 0;     // sent and received by the busiest place
  std::int64_t depth = 0;     // length of the chain of messages after the end of the last task
  double balance = 0;         // glb: the least possible time divided by the time taken; otherwise 0
  std::string wrong;          // what the checker or the workload found wrong, or ""
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

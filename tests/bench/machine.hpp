// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records where and when a measurement was taken, and how much other programs used the machine.

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

namespace bench {

// The CPU time of all threads of this process so far, in seconds.
double process_cpu_seconds();

// How busy other programs keep the machine, from construction on.
class state_of_detector {
 public:
  state_of_detector();
  // The average number of cores that other processes used; negative if the system does not tell.
  [[nodiscard]] double cores_used_by_others() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  double machine_busy_;
  double own_busy_;
};

// Host, processor, compiler, date and load.
nlohmann::ordered_json describe_machine();

}  // namespace bench

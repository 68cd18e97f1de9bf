// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where and when a measurement was taken, and who else used the machine meanwhile.

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

namespace bench {

// CPU time of this process so far, all threads, in seconds.
double process_cpu_seconds();

// How busy others keep the machine: from its making on.
class state_of_detector {
 public:
  state_of_detector();
  // Cores that other processes used on average; negative when the system does not tell.
  [[nodiscard]] double cores_used_by_others() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  double machine_busy_;
  double own_busy_;
};

// Host, processor, compiler, date, load.
nlohmann::ordered_json describe_machine();

}  // namespace bench

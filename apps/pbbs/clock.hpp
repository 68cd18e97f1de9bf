// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace pbbs {

// Either elapsed time, or the time that all threads of the process have used the processor. With
// one worker, the latter is the time of the computation also while other programs are running.
inline double seconds_of(bool cpu_clock) {
  timespec now{};
  ::clock_gettime(cpu_clock ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace pbbs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace apps {

// How many places a job has, and how many of them share the memory of the host of place 0.
struct placement {
  int places = 1;
  int on_host = 1;

  // The part of data that all places divide equally which is in the memory of this host.
  [[nodiscard]] double part_on_host() const {
    return static_cast<double>(on_host) / static_cast<double>(places);
  }
};

// That of the job of the calling task, which runs at place 0. Context: task; does not suspend.
[[nodiscard]] placement placement_of_job();

// The memory of this host, in bytes.
[[nodiscard]] double memory_of_host();

// What is wrong with an input for which the places of this host need at least so many bytes
// together: "needs about 71 GiB of memory, and this machine has 24 GiB". Empty if they fit.
// Without this check the system, which promises more memory than it has, would kill the program
// later.
[[nodiscard]] std::string beyond_memory(double bytes, double memory = memory_of_host());

}  // namespace apps

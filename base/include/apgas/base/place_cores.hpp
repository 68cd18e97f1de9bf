// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cores of its host that a place may use. `scheduler` determines them, `comm` exchanges them
// between the places, and `scheduler` then divides the cores of each host among its places.

#include <cstdint>
#include <vector>

namespace apgas::inline v0::base {

// The CPU time that a control group (cgroup) grants to all its processes together.
struct cpu_limit {
  std::uint64_t cgroup = 0;      // the inode of its folder, the same for every process that sees it
  std::uint32_t millicores = 0;  // 1500 is the time of one and a half cores

  bool operator==(const cpu_limit&) const = default;
};

struct place_cores {
  // The affinity mask: the numbers that Linux gives to the logical processors, in ascending order.
  std::vector<int> processors;
  // The limits of the cgroup of the process and of the cgroups above it, the smallest first.
  std::vector<cpu_limit> limits;
  // The number of workers that the user asked for (APGAS_WORKERS); 0: one for each core.
  int workers = 0;
  // Whether workers may be bound to processors (APGAS_BIND).
  bool binds = true;
  // A hash of the processors of the host and their cores. It is equal for places of one host that
  // see the same hardware.
  std::uint64_t hardware = 0;

  bool operator==(const place_cores&) const = default;
};

}  // namespace apgas::inline v0::base

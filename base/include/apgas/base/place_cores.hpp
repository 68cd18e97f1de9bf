// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of its host's cores that a place may use. `scheduler` finds it out, `comm` tells it to
// the other places, and `scheduler` divides the cores of a host accordingly.

#include <cstdint>
#include <vector>

namespace apgas::inline v0::base {

// CPU time that a control group (cgroup) grants to all its processes together.
struct cpu_limit {
  std::uint64_t cgroup = 0;      // the inode of its folder: the same for each process that sees it
  std::uint32_t millicores = 0;  // 1500 is the time of one and a half cores

  bool operator==(const cpu_limit&) const = default;
};

struct place_cores {
  // The affinity mask: the logical processors by their numbers in Linux, ascending.
  std::vector<int> processors;
  // Of the cgroup of the process and of those above it that have a limit; the smallest comes first.
  std::vector<cpu_limit> limits;
  // The workers that the user asked for (APGAS_WORKERS); 0: as many as there are cores.
  int workers = 0;
  // Whether workers may be bound to processors (APGAS_BIND).
  bool binds = true;
  // A hash of the processors of the host and of their cores. Places of one host that see the same
  // hardware have the same.
  std::uint64_t hardware = 0;

  bool operator==(const place_cores&) const = default;
};

}  // namespace apgas::inline v0::base

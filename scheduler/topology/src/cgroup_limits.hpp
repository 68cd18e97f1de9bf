// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <apgas/base/place_cores.hpp>

namespace apgas::inline v0::scheduler {

// Returns the CPU limits of the cgroup of this process and of the cgroups above it, in version 1 or
// 2, the smallest first. A process in a container sees only the limits inside the container. Tests
// set `root`, which is put before the paths /proc and /sys.
std::vector<base::cpu_limit> cgroup_limits(const std::string& root = {});

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <apgas/base/place_cores.hpp>

namespace apgas::inline v0::scheduler {

// The CPU limits of the cgroup of this process and of those above it, of version 1 or 2; the
// smallest comes first. A process in a container sees those inside the container only.
// `root`: what stands before /proc and /sys, for tests.
std::vector<base::cpu_limit> cgroup_limits(const std::string& root = {});

}  // namespace apgas::inline v0::scheduler

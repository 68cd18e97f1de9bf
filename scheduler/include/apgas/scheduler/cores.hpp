// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cores of this host, and which of them this process may use. They are divided among the places
// of the host by core_partition.hpp.

#include <string>
#include <vector>

#include <apgas/base/place_cores.hpp>
#include <apgas/base/settings.hpp>
#include <apgas/scheduler/core_partition.hpp>

namespace apgas::inline v0::scheduler {

// All processors of the host in the order of the hardware, also those that a cpuset keeps this
// process from; empty where hwloc finds nothing. Read once. Context: any thread.
const std::vector<logical_processor>& processors_of_host();

// What this process may use now: the affinity mask of the calling thread, and the limits of its
// cgroups; with what the user set. Context: any thread.
base::place_cores cores_of_process(const base::settings& settings);

// The processors that the cpuset of this process allows, whether or not they are in its mask:
// a launcher can bind to no others. At least 1.
int allowed_processors();

// Cores that the process may use, after affinity mask and CPU limit; at least 1.
int usable_cores();

// The topology in a line, for apgas-info.
std::string topology_description();

}  // namespace apgas::inline v0::scheduler

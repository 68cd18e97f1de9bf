// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cores of this host, and those of them that this process may use. core_partition.hpp divides
// them among the places of the host.

#include <string>
#include <vector>

#include <apgas/base/place_cores.hpp>
#include <apgas/base/settings.hpp>
#include <apgas/scheduler/core_partition.hpp>

namespace apgas::inline v0::scheduler {

// Returns all processors of the host in the order of the hardware, including those that the cpuset
// of this process forbids; empty if hwloc fails.
// Context: any thread.
// Cost: the first call reads the topology of the host; later ones return the same object.
const std::vector<logical_processor>& processors_of_host();

// Returns what this process may use now: the affinity mask of the calling thread, the limits of its
// cgroups, and the settings of the user.
// Context: any thread.
base::place_cores cores_of_process(const base::settings& settings);

// Returns the number of processors that the cpuset of this process allows, whether or not they are
// in its affinity mask; a launcher cannot bind to any others. At least 1.
// Context: any thread.
int allowed_processors();

// Returns the number of cores that this process may use if it is the only place of the host, by its
// affinity mask and CPU limits; at least 1.
// Context: any thread.
int usable_cores();

// Describes the topology of the host in one line, for apgas-info.
std::string topology_description();

}  // namespace apgas::inline v0::scheduler

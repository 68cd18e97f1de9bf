// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes in words how the cores of a host are divided among its places, for APGAS_STATS and
// apgas-info.

#include <string>
#include <vector>

#include <apgas/base/place_cores.hpp>
#include <apgas/comm/rank.hpp>
#include <apgas/scheduler/core_partition.hpp>

namespace apgas::inline v0::launch {

// The places of one host. The vectors have an element for each of them, in the order of the ranks.
struct host_places {
  std::string host;
  std::vector<comm::rank> places;
  std::vector<const base::place_cores*> cores;
  std::vector<scheduler::core_share> shares;
};

// Returns one line for each place, such as "place 1 on node1: cores 8-15, 8 workers, shared with no
// other place". If there are more than eight places, places that are alike share a line, and there
// are at most eight lines. `hardware` has the processors of the host.
std::vector<std::string> core_lines(const host_places& all,
                                    const std::vector<scheduler::logical_processor>& hardware);

}  // namespace apgas::inline v0::launch

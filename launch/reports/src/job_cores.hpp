// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cores that the places of a job announced at the start, the share of this place, and the lines
// that it prints about them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/core_partition.hpp>

#include "core_lines.hpp"

namespace apgas::inline v0::launch {

class job_cores {
 public:
  // Takes the cores of all ranks from the endpoint, and divides those of this host.
  // Requires: network.ready().
  // Cost: proportional to the number of processors of the host times the number of its places.
  explicit job_cores(comm::endpoint& network);

  const scheduler::core_share& mine() const { return mine_.shares[index_]; }

  // Returns a warning if the launcher bound each place of this host to one core and left other
  // cores of the host idle. Only the first place of the host returns it.
  std::optional<std::string> idle_cores() const;

  // Returns the lines that this place prints about cores; most places print none. The first place
  // of a host describes all places of the host. Of the hosts whose places may use the same cores,
  // only the first one is described, and of such groups of hosts only eight, so that the output of
  // large jobs stays short.
  std::vector<std::string> description() const;

 private:
  comm::cores_by_rank cores_;
  std::vector<std::string> host_of_rank_;
  host_places mine_;
  std::size_t index_ = 0;  // of this place in mine_
};

}  // namespace apgas::inline v0::launch

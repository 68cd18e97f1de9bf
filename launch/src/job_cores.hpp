// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the places told each other of their cores at the start, and what this place makes of it.

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
  // Takes from the endpoint what the ranks told of their cores, and divides those of this host.
  // Requires: network.ready(). Cost: processors of the host times its places.
  explicit job_cores(comm::endpoint& network);

  const scheduler::core_share& mine() const { return mine_.shares[index_]; }

  // A sentence for the user, where the launcher bound each place of this host to one core and left
  // others of its cores idle. Only at the first place of the host.
  std::optional<std::string> idle_cores() const;

  // What this place prints about the cores, often nothing: the first place of a host speaks for
  // all its places, and for the hosts whose places may use the same cores. Of eight such groups
  // of hosts at most, so that the output of large jobs stays short.
  std::vector<std::string> description() const;

 private:
  comm::cores_by_rank cores_;
  std::vector<std::string> host_of_rank_;
  host_places mine_;
  std::size_t index_ = 0;  // of this place in mine_
};

}  // namespace apgas::inline v0::launch

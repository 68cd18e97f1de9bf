// SPDX-License-Identifier: Apache-2.0
#pragma once

// Groups the hosts of a job whose places have the same cores, so that one line can describe a
// group.

#include <string>
#include <vector>

#include <apgas/comm/endpoint.hpp>

namespace apgas::inline v0::launch {

// Returns groups of hosts whose places, in the order of their ranks, may use the same cores and
// have the same CPU limits. `cores` and `host_of_rank` are by rank. Groups and the hosts in them
// are in the order of their first ranks.
std::vector<std::vector<std::string>> alike_hosts(const comm::cores_by_rank& cores,
                                                  const std::vector<std::string>& host_of_rank);

// Describes the hosts of a group after its first one, as in "the same on 5 more hosts: b, c, d and
// 2 more".
// Requires: more than one host.
std::string others_alike(const std::vector<std::string>& group);

}  // namespace apgas::inline v0::launch

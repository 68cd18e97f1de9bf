// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which hosts of a job give their places the same cores: of them one speaks for all.

#include <string>
#include <vector>

#include <apgas/comm/endpoint.hpp>

namespace apgas::inline v0::launch {

// Hosts whose places may use the same cores and have the same CPU limits, in the order of the
// places. `cores` and `host_of_rank` are by rank. Groups and the hosts in them are in the order of
// their first ranks.
std::vector<std::vector<std::string>> alike_hosts(const comm::cores_by_rank& cores,
                                                  const std::vector<std::string>& host_of_rank);

// "the same on 5 more hosts: b, c, d and 2 more", of a group whose first host has been told.
// Requires: more than one host.
std::string others_alike(const std::vector<std::string>& group);

}  // namespace apgas::inline v0::launch

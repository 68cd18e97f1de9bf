// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// Where the places of a job are, for people.
namespace apgas::inline v0::launch {

// Of the hosts by place: "on 2 hosts: 0-3 on a, 4-7 on b". The first eight hosts by name.
std::string describe_hosts(const std::vector<std::string>& host_of_place);

}  // namespace apgas::inline v0::launch

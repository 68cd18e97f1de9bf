// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <apgas/scheduler/place_waits.hpp>

// Which members of a team have not made the collective call that others wait in. Members number
// their calls, and each place tells the number of its last one.
namespace apgas::inline v0::scheduler {

// The calls of one team.
struct team_calls {
  struct waiting_member {
    int place;
    const place_waits::team* in;
  };
  std::vector<waiting_member> waiting;  // in the order of the answers
  std::map<int, std::uint32_t> calls;   // the last one of each place

  // The places that have not made this call, in ascending order. Throws: std::bad_alloc.
  std::vector<int> absent(const place_waits::team& call) const;
};

// The teams that a member waits for, in the order of their names. They point into the answers.
// Throws: std::bad_alloc.
std::vector<team_calls> waiting_teams(const std::vector<place_waits>& answers);

// A line for each of them that names the absent members. Throws: std::bad_alloc.
std::string missing_members(const std::vector<place_waits>& answers);

}  // namespace apgas::inline v0::scheduler

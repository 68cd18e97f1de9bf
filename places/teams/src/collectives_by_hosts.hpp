// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_member.hpp>

// The collectives of a team on several hosts whose members use bulletin boards within each run
// (host_runs.hpp): through the boards between a member and the head of its run, and by messages
// between the heads (between_runs.hpp). A run of one member has no board; its member is the head.
// Parameters and contracts are those of team_collectives.hpp.
namespace apgas::inline v0::remote {

void barrier_by_hosts(team_member& m);
void broadcast_by_hosts(team_member& m, std::size_t root, std::span<std::byte> data);
broadcast_message broadcast_message_by_hosts(team_member& m, std::size_t root,
                                             std::span<const std::byte> data);
// Require: an element has at most team_member::post_bytes bytes.
void reduce_by_hosts(team_member& m, std::size_t root, std::span<std::byte> data,
                     const reduction& op);
void allreduce_by_hosts(team_member& m, std::span<std::byte> data, const reduction& op);
// For short blocks, since the head of a run copies those of all its members.
void alltoall_by_hosts(team_member& m, std::span<const std::byte> out, std::span<std::byte> in);

}  // namespace apgas::inline v0::remote

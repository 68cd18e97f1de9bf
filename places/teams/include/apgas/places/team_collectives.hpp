// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <apgas/places/team_member.hpp>

// The collectives of a team on bytes: takes the steps of team_schedule.hpp and moves what they say.
// The types and the user's operation come from above (team.hpp).
//
// What is long goes in parts, some of them ahead, so that both ends copy and combine at once.
//
// Context of all: the task of this member that calls, between begin() and end(). May suspend.
// Throws of all: illegal_operation when the team breaks; what the operation throws.
namespace apgas::inline v0::remote {

void run_barrier(team_member& m);

// The bytes of the root arrive in `data` of all others, of the same size.
void run_broadcast(team_member& m, std::size_t root, std::span<std::byte> data);
// The same where only the root knows the size. Returns the message of the others.
team_arrival run_broadcast_message(team_member& m, std::size_t root,
                                   std::span<const std::byte> data);

// Combines n elements at `mine` with those at `theirs`, which need not be aligned, in the order
// said.
struct reduction {
  void (*combine)(void* operation, std::byte* mine, const std::byte* theirs, std::size_t n,
                  bool theirs_first);
  void* operation;
  std::size_t element_bytes;
};
// `data` has the contribution of this member, and the result at the root, or everywhere. That of
// others is used up.
void run_reduce(team_member& m, std::size_t root, std::span<std::byte> data, const reduction& op);
void run_allreduce(team_member& m, std::span<std::byte> data, const reduction& op);

// `all` counts at the root alone: the blocks of the members, in their order.
void run_scatter(team_member& m, std::size_t root, std::span<const std::byte> all,
                 std::span<std::byte> mine);
void run_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                std::span<std::byte> all);
// The same for contributions of any size. Empty but at the root.
std::vector<std::vector<std::byte>> run_gather_messages(team_member& m, std::size_t root,
                                                        std::span<const std::byte> mine);

// Block i of `out` goes to member i; block i of `in` comes from it.
void run_alltoall(team_member& m, std::span<const std::byte> out, std::span<std::byte> in);

}  // namespace apgas::inline v0::remote

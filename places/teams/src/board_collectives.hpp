// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_member.hpp>

// The collectives of the members of a run through bulletin boards: of a team whose members are all
// on one host, or within one run of a larger team. Roots are numbered within the run. Otherwise
// parameters and contracts are those of team_collectives.hpp.
namespace apgas::inline v0::remote {

void board_barrier(team_member& m);
void board_broadcast(team_member& m, std::size_t root, std::span<std::byte> data);
std::vector<std::byte> board_broadcast_message(team_member& m, std::size_t root,
                                               std::span<const std::byte> data);
// Require: an element has at most team_member::post_bytes bytes.
// `result` is used at the root only. It may be `mine`, but may not overlap it otherwise.
void board_reduce(team_member& m, std::size_t root, std::span<const std::byte> mine,
                  std::span<std::byte> result, const reduction& op);
void board_allreduce(team_member& m, std::span<std::byte> data, const reduction& op);
// The two halves of a barrier or allreduce of a larger team. First the values of the run are
// combined at its first member; elsewhere the data are unspecified afterwards. Then the data of the
// first member are copied to all others. Each call of board_release() follows one of
// board_arrive().
void board_arrive(team_member& m, std::span<std::byte> data, const reduction& op);
void board_release(team_member& m, std::span<std::byte> data);
void board_scatter(team_member& m, std::size_t root, std::span<const std::byte> all,
                   std::span<std::byte> mine);
void board_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                  std::span<std::byte> all);
std::vector<std::vector<std::byte>> board_gather_messages(team_member& m, std::size_t root,
                                                          std::span<const std::byte> mine);
void board_alltoall(team_member& m, std::span<const std::byte> out, std::span<std::byte> in);

}  // namespace apgas::inline v0::remote

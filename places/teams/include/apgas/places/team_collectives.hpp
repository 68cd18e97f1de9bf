// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/places/team_member.hpp>

// The collectives of a team on bytes: they execute the schedules of team_tree.hpp and
// team_schedule.hpp. Types and the operation of the user come from above (team.hpp).
//
// Long messages are divided into parts, some of which are sent ahead, so that both ends copy and
// combine at the same time.
//
// Context of all: the calling task of this member, between begin() and end(). May suspend.
// Throws of all: illegal_operation if the team breaks; what the operation throws.
namespace apgas::inline v0::remote {

// In the first call of a team: its members agree on the bulletin boards that they use. Does nothing
// if that call is `destroy`.
APGAS_API void agree_on_boards(team_member& m, collective what);

APGAS_API void run_barrier(team_member& m);
// A barrier without bulletin boards. When it has returned, no member reads a board of the team.
APGAS_API void run_barrier_by_messages(team_member& m);

// Copies `data` of the root to `data` of all other members. All have the same size.
APGAS_API void run_broadcast(team_member& m, std::size_t root, std::span<std::byte> data);
// The same if only the root knows the size. Returns the message at the other members.
class broadcast_message {
 public:
  broadcast_message() = default;
  explicit broadcast_message(team_arrival arrival) noexcept : arrival_(std::move(arrival)) {}
  explicit broadcast_message(std::vector<std::byte> bytes) noexcept : bytes_(std::move(bytes)) {}
  std::span<const std::byte> data() const noexcept {
    return bytes_.empty() ? arrival_.data() : std::span<const std::byte>(bytes_);
  }

 private:
  team_arrival arrival_;
  std::vector<std::byte> bytes_;
};
APGAS_API broadcast_message run_broadcast_message(team_member& m, std::size_t root,
                                                  std::span<const std::byte> data);

// A reduction operation: combines n elements at `theirs`, which need not be aligned, into those at
// `mine`, as op(theirs, mine) or op(mine, theirs).
struct reduction {
  void (*combine)(void* operation, std::byte* mine, const std::byte* theirs, std::size_t n,
                  bool theirs_first);
  void* operation;
  std::size_t element_bytes;
};
// Whether this member combines elements in a reduce, and does not just give its own to others.
APGAS_API bool combines_in_reduce(const team_member& m, std::size_t root,
                                  const reduction& op) noexcept;
// Combines the elements `mine` of all members. A member that combines has `data`, as many
// elements. At the root they become the result, elsewhere they are unspecified afterwards.
APGAS_API void run_reduce(team_member& m, std::size_t root, std::span<const std::byte> mine,
                          std::span<std::byte> data, const reduction& op);
// `data` is the contribution of this member, and becomes the result.
APGAS_API void run_allreduce(team_member& m, std::span<std::byte> data, const reduction& op);

// `all` is used at the root only: one block for each member, in their order.
APGAS_API void run_scatter(team_member& m, std::size_t root, std::span<const std::byte> all,
                           std::span<std::byte> mine);
APGAS_API void run_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                          std::span<std::byte> all);
// A gather of contributions that may have different sizes. Returns them at the root, and an empty
// vector elsewhere.
APGAS_API std::vector<std::vector<std::byte>> run_gather_messages(team_member& m, std::size_t root,
                                                                  std::span<const std::byte> mine);

// Sends block i of `out` to member i, and receives block i of `in` from it.
APGAS_API void run_alltoall(team_member& m, std::span<const std::byte> out,
                            std::span<std::byte> in);

}  // namespace apgas::inline v0::remote

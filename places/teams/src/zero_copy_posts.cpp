// SPDX-License-Identifier: Apache-2.0
// Zero-copy posts of a member (docs/protocols/team.md, "Long data").
#include <fmt/format.h>

#include <apgas/comm/zero_copy.hpp>
#include <apgas/errors.hpp>
#include <apgas/places/team_tree.hpp>

#include "board_collectives.hpp"
#include "team_board.hpp"

namespace apgas::inline v0::remote {

bool team_member::uses_zero_copy() {
  if (uses_zero_copy_) return *uses_zero_copy_;
  bool all = true;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    all &= place_.endpoint->zero_copy_from(rank_in_run(i)) != comm::no_zero_copy;
  }
  const reduction both{
      [](void*, std::byte* mine, const std::byte* theirs, std::size_t, bool) { *mine &= *theirs; },
      nullptr, sizeof all};
  board_allreduce(*this, std::as_writable_bytes(std::span(&all, 1)), both);
  uses_zero_copy_ = all;
  return all;
}

void team_member::publish_address(std::size_t reader, std::span<const std::byte> data) {
  make_room(0);
  board_->publish_address(
      data, reader == nobody ? team_board::everybody : static_cast<std::uint32_t>(reader));
}

void team_member::wait_until_copied() {
  while (const auto wait = board_->before_reuse()) wait_for_board(*wait);
}

void team_member::withdraw() noexcept { board_->withdraw(); }

void team_member::copy_from(std::size_t from, std::uint32_t number, std::size_t bytes,
                            std::size_t first, std::span<std::byte> to) {
  const auto member = static_cast<std::uint32_t>(from);
  wait_for_post(from, number, bytes);
  if (to.empty()) return;
  const comm::cma_process& owner = place_.endpoint->cma_process_of(rank_in_run(from));
  const std::uint64_t address = board_->address_of(member, number) + first;
  try {  // boards are of places in different processes
    comm::read_remote_process(owner, address, to);
  } catch (const serialization_error& e) {
    if (board_->remains(member, number)) {
      throw serialization_error(
          fmt::format("the data of place {} cannot be read: {}", rank_in_run(from), e.what()));
    }
  }
  // If the owner has withdrawn the post, it breaks the team, and this wait throws the reason.
  if (!board_->remains(member, number)) wait_for_post(from, number, bytes);
}

}  // namespace apgas::inline v0::remote

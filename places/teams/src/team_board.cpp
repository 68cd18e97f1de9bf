// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <apgas/base/assert.hpp>

#include "team_board.hpp"

namespace apgas::inline v0::remote {

team_board::team_board(std::vector<std::byte*> boards, std::uint32_t me, std::uint64_t before)
    : boards_(std::move(boards)), me_(me), collective_(before), left_(before), all_left_(before) {
  APGAS_ASSERT(boards_.size() <= members_max && me_ < boards_.size());
  left_by_.fill(before);
  control_of(me_).left.publish({static_cast<std::uint32_t>(before), 0});
}

team_board::~team_board() {
  for (const post_key& key : keys_) {
    if (key.number != 0) header_of(me_, key).key.publish({});
  }
  control& mine = control_of(me_);
  mine.left.publish({});
  mine.asleep.clear();
  for (std::uint32_t i = 0; i < size(); ++i) mine.taken[i].publish({});
}

void team_board::enter(const call_signature& call, std::uint32_t sequence,
                       std::uint64_t history) noexcept {
  ++collective_;
  posts_ = 0;
  last_address_ = 0;
  std::fill_n(last_address_for_.begin(), size(), 0U);
  call_ = call;
  sequence_ = sequence;
  history_ = history;
}

void team_board::leave() noexcept {
  left_ = collective_;
  control_of(me_).left.publish({static_cast<std::uint32_t>(left_), 0});
  published_ = true;
}

std::optional<board_wait> team_board::before_all_left(std::uint64_t collective) noexcept {
  if (all_left_ >= collective) return std::nullopt;
  std::uint64_t all = left_;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (i == me_) continue;
    if (left_by_[i] < collective) {
      const auto needed = static_cast<std::uint32_t>(collective);
      const std::uint32_t ahead = control_of(i).left.look().collective - needed;
      if (ahead > ahead_max) return board_wait{board_wait::what::left, i, {needed, 0}};
      left_by_[i] = collective + ahead;
    }
    all = std::min(all, left_by_[i]);
  }
  all_left_ = all;
  return std::nullopt;
}

std::optional<board_wait> team_board::before_next(std::size_t bytes) noexcept {
  // The slots of this collective are those of an earlier one. All members must have left the next
  // one as well, so that post_before() is never overwritten.
  const std::uint32_t rings = bytes <= few_bytes ? collectives : data_collectives;
  if (collective_ >= rings) {
    if (const auto wait = before_all_left(collective_ - rings + 1)) return wait;
  }
  if (posts_ < slots) return std::nullopt;
  const std::uint32_t oldest = posts_ + 1 - slots;  // its slot is that of the next post
  const std::uint32_t reader = readers_[posts_ % slots];
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (i == me_ || (reader != everybody && reader != i) || has_taken(i, oldest)) continue;
    return board_wait{board_wait::what::taken, i, key_of(oldest)};
  }
  return std::nullopt;
}

bool team_board::has_taken(std::uint32_t reader, std::uint32_t number) noexcept {
  if (free_for(key_of(number + slots), taken_by_[reader], slots)) return true;
  if (!published({board_wait::what::taken, reader, key_of(number)})) return false;
  taken_by_[reader] = control_of(reader).taken[me_].look();
  return true;
}

team_board::header& team_board::begin_post(std::size_t bytes, std::uint32_t reader) noexcept {
  readers_[posts_ % slots] = reader;
  header& of = header_of(me_, key_of(++posts_));
  of.history = history_;
  of.signature = call_;
  of.sequence = sequence_;
  of.bytes = static_cast<std::uint32_t>(bytes);
  return of;
}

void team_board::end_post(header& of) noexcept {
  const post_key key = key_of(posts_);
  keys_[index_of(key)] = key;
  of.key.publish(key);
  published_ = true;
}

void team_board::publish(std::span<const std::byte> data, std::uint32_t reader) noexcept {
  APGAS_ASSERT(data.size() <= slot_bytes);
  header& to = begin_post(data.size(), reader);
  if (!data.empty()) {
    std::memcpy(data_at(me_, key_of(posts_), data.size()), data.data(), data.size());
  }
  end_post(to);
}

void team_board::publish_address(std::span<const std::byte> data, std::uint32_t reader) noexcept {
  header& to = begin_post(data.size(), reader);
  const auto address = reinterpret_cast<std::uintptr_t>(data.data());
  std::memcpy(to.few, &address, sizeof address);
  end_post(to);
  (reader == everybody ? last_address_ : last_address_for_[reader]) = posts_;
}

std::optional<board_wait> team_board::before_reuse() noexcept {
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::uint32_t last = std::max(last_address_, last_address_for_[i]);
    if (i == me_ || last == 0 || has_taken(i, last)) continue;
    return board_wait{board_wait::what::taken, i, key_of(last)};
  }
  return std::nullopt;
}

void team_board::withdraw() noexcept {
  for (std::uint32_t number = 1; number <= std::min(posts_, slots); ++number) {
    const post_key key = key_of(number);  // or a later post in the same slot
    header_of(me_, key).key.withdraw();
    keys_[index_of(key)] = {};
  }
}

std::uint64_t team_board::address_of(std::uint32_t member, std::uint32_t number) const noexcept {
  std::uint64_t address = 0;
  std::memcpy(&address, post(member, number).few, sizeof address);
  return address;
}

// A key of another collective than the expected one may be old: not all slots are used in each
// collective. If it is wrong, its owner notices (intact()).
board_look team_board::look(const board_wait& what) const noexcept {
  const post_key& key = what.key;
  if (what.kind == board_wait::what::left) {
    const post_key left = control_of(what.member).left.look();
    const auto ahead = static_cast<std::int32_t>(left.collective - key.collective);
    if (ahead > std::int32_t{ahead_max}) return board_look::impossible;
    return ahead < 0 ? board_look::nothing : board_look::found;
  }
  const bool is_post = what.kind == board_wait::what::post;
  const post_key found =
      is_post ? header_of(what.member, key).key.look() : control_of(what.member).taken[me_].look();
  if (found.collective != key.collective || found.number < key.number) return board_look::nothing;
  const std::uint32_t most = is_post ? key.number : posts_;
  return found.number > most ? board_look::impossible : board_look::found;
}

std::span<const std::byte> team_board::data_of(std::uint32_t member, std::uint32_t number,
                                               std::size_t bytes) const noexcept {
  return {data_at(member, key_of(number), bytes), bytes};
}

const team_board::header* team_board::post_before(std::uint32_t member) const noexcept {
  const post_key key{static_cast<std::uint32_t>(collective_ - 1), 1};
  const header& found = header_of(member, key);
  return found.key.look() == key ? &found : nullptr;
}

void team_board::take(std::uint32_t member, std::uint32_t number) noexcept {
  taken_[member] = key_of(number);
  control_of(me_).taken[member].publish(taken_[member]);
  published_ = true;
}

bool team_board::must_look_for_sleepers() noexcept {
  if (!std::exchange(published_, false)) return false;
  sleep_mark::fence_before_look();
  return true;
}

bool team_board::found_asleep(std::uint32_t member) noexcept {
  const std::uint32_t mark = control_of(member).asleep.waits_for(me_);
  return std::exchange(woken_[member], mark) != mark && mark != 0;
}

void team_board::announce_sleep(std::uint32_t waits_for) noexcept {
  control_of(me_).asleep.announce(waits_for, ++sleeps_);
}

bool team_board::intact() const noexcept {
  for (const post_key& key : keys_) {
    if (key.number != 0 && header_of(me_, key).key.look() != key) return false;
  }
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (control_of(me_).taken[i].look() != taken_[i]) return false;
  }
  return control_of(me_).left.look() == post_key{static_cast<std::uint32_t>(left_), 0};
}

}  // namespace apgas::inline v0::remote

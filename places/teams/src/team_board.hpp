// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <apgas/places/bulletin_board.hpp>
#include <apgas/places/call_signature.hpp>

// The bulletin boards of a team (bulletin_board.hpp), as one member uses them: it publishes on its
// own, and reads those of the other members. This class locks nothing and does not wait; it
// says what there is to wait for, and team_member does so (team_posts.cpp).
//
// A board has 512 KiB. Its pages use memory when posts have been written to them.
//
//   control      4 KiB: the values by which other members know how far the owner is
//   headers      `collectives` rings of `slots` posts: their headers
//   data         for the posts of the last `data_collectives`, slot_bytes for each
//
// A post of a few bytes has them in its header, so that a member can run far ahead of the others in
// collectives of short data. Its data need room of their own otherwise.
namespace apgas::inline v0::remote {

inline constexpr std::size_t board_bytes = std::size_t{512} << 10;

// An event for which a member waits: another one publishes a post, takes one, or leaves a
// collective.
struct board_wait {
  enum class what : std::uint8_t { post, taken, left };

  what kind = what::post;
  std::uint32_t member = 0;
  post_key key;
};

enum class board_look : std::uint8_t { nothing, found, impossible };

class team_board {
 public:
  static constexpr std::uint32_t collectives = 64;
  static constexpr std::uint32_t data_collectives = 4;
  static constexpr std::uint32_t slots = 8;
  static constexpr std::size_t slot_bytes = 15'232;
  static constexpr std::size_t few_bytes = 16;
  static constexpr std::size_t members_max = 64;
  static constexpr std::uint32_t everybody = ~std::uint32_t{0};  // as the reader of a post

  // The header of a post. Data of a few bytes are part of it.
  struct alignas(64) header {
    published_key key;
    std::uint64_t history = 0;   // of the calls of the team before this one
    call_signature signature{};  // of the call
    std::uint32_t sequence = 0;  // number of the call
    std::uint32_t bytes = 0;     // of data
    std::byte few[few_bytes] = {};
  };
  static_assert(sizeof(header) == 64);

  // `boards` are those of the members, in order, and `me` is the index of this one. The collectives
  // are numbered from `before` + 1; only tests need another number than 0.
  // Requires: the board of this member is empty.
  team_board(std::vector<std::byte*> boards, std::uint32_t me, std::uint64_t before = 0);
  team_board(const team_board&) = delete;
  team_board& operator=(const team_board&) = delete;
  // Empties the board, for the next team that uses it.
  ~team_board();

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(boards_.size()); }
  std::uint32_t me() const noexcept { return me_; }

  // Begins and ends a collective. All its posts carry the call with its sequence number, and the
  // history of earlier calls.
  void enter(const call_signature& call, std::uint32_t sequence, std::uint64_t history) noexcept;
  void leave() noexcept;
  // All members have entered the collective that is `before` collectives before this one, so they
  // have left its predecessor.
  void note_all_entered(std::uint32_t before = 0) noexcept { all_left_ = collective_ - 1 - before; }

  // The event for which the owner must wait before it can publish the next post, of so many bytes;
  // nothing if there is room. A zero-copy post has none.
  std::optional<board_wait> before_next(std::size_t bytes) noexcept;
  // Publishes a post for one reader or for everybody.
  // Requires: before_next(data.size()) has returned nothing; data.size() <= slot_bytes.
  void publish(std::span<const std::byte> data, std::uint32_t reader) noexcept;

  // Publishes a post that has the address of the data in this process instead of the data. They may
  // not change before before_reuse() has returned nothing, or withdraw() was called.
  // Requires: before_next(0) has returned nothing; data.size() < 2^32.
  void publish_address(std::span<const std::byte> data, std::uint32_t reader) noexcept;
  // The event for which the owner must wait until its readers have taken all zero-copy posts
  // in this collective; nothing if they have.
  std::optional<board_wait> before_reuse() noexcept;
  // Withdraws all posts of this collective, because it has failed.
  void withdraw() noexcept;

  board_wait post_of(std::uint32_t member, std::uint32_t number) const noexcept {
    return {board_wait::what::post, member, key_of(number)};
  }
  board_look look(const board_wait& what) const noexcept;
  // A post that look() has found.
  const header& post(std::uint32_t member, std::uint32_t number) const noexcept {
    return header_of(member, key_of(number));
  }
  // Its data. Requires: bytes <= slot_bytes.
  std::span<const std::byte> data_of(std::uint32_t member, std::uint32_t number,
                                     std::size_t bytes) const noexcept;
  // The address of the data of a zero-copy post that look() has found; and whether the
  // post is still there after the data have been copied.
  std::uint64_t address_of(std::uint32_t member, std::uint32_t number) const noexcept;
  bool remains(std::uint32_t member, std::uint32_t number) const noexcept {
    return header_of(member, key_of(number)).key.remains(key_of(number));
  }
  // The first post of a member in the collective before this one, if there is one. It is not
  // overwritten before this member leaves this collective.
  const header* post_before(std::uint32_t member) const noexcept;
  // Says that this member has taken the posts of another one up to this number.
  void take(std::uint32_t member, std::uint32_t number) noexcept;

  // Whether something was published since the last call: then sleepers must be looked for.
  bool must_look_for_sleepers() noexcept;
  // Whether a member sleeps, waits for this one, and was not found by an earlier call.
  bool found_asleep(std::uint32_t member) noexcept;
  void announce_sleep(std::uint32_t waits_for) noexcept;
  void clear_sleep() noexcept { control_of(me_).asleep.clear(); }

  // Whether the board of this member is as this member has left it.
  // Requires: no other thread publishes.
  bool intact() const noexcept;

 private:
  struct control {
    alignas(64) published_key left;  // the collective
    alignas(64) sleep_mark asleep;
    alignas(64) published_key taken[members_max];  // by writer
  };
  static constexpr std::size_t control_bytes = 4096;
  static_assert(sizeof(control) <= control_bytes);
  // No member is further ahead of another one than that.
  static constexpr std::uint32_t ahead_max = 2 * collectives;
  static constexpr std::size_t all_headers = std::size_t{collectives} * slots;
  static constexpr std::size_t data_begin = control_bytes + all_headers * sizeof(header);
  static_assert(data_begin + std::size_t{data_collectives} * slots * slot_bytes <= board_bytes);

  static std::size_t index_of(const post_key& key, std::uint32_t rings = collectives) noexcept {
    return (key.number - 1) % slots * rings + key.collective % rings;
  }
  control& control_of(std::uint32_t member) const noexcept {
    return *reinterpret_cast<control*>(boards_[member]);
  }
  header& header_of(std::uint32_t member, const post_key& key) const noexcept {
    const std::size_t at = control_bytes + index_of(key) * sizeof(header);
    return *reinterpret_cast<header*>(boards_[member] + at);
  }
  // Where the data of a post are, if it has `bytes` bytes.
  std::byte* data_at(std::uint32_t member, const post_key& key, std::size_t bytes) const noexcept {
    if (bytes <= few_bytes) return header_of(member, key).few;
    return boards_[member] + data_begin + index_of(key, data_collectives) * slot_bytes;
  }
  post_key key_of(std::uint32_t number) const noexcept {
    return {static_cast<std::uint32_t>(collective_), number};
  }
  header& begin_post(std::size_t bytes, std::uint32_t reader) noexcept;
  void end_post(header& of) noexcept;
  // The event for which the owner must wait until all members have left a collective; nothing if
  // they have.
  std::optional<board_wait> before_all_left(std::uint64_t collective) noexcept;
  // Whether a reader is known to have taken the posts of this member up to `number`.
  bool has_taken(std::uint32_t reader, std::uint32_t number) noexcept;
  bool published(const board_wait& what) const noexcept { return look(what) == board_look::found; }

  const std::vector<std::byte*> boards_;
  const std::uint32_t me_;

  // Collectives are counted with 64 bits here, so that a number that is not needed for long stays
  // right.
  std::uint64_t collective_;  // the one that was entered last
  std::uint64_t left_;        // the one that this member has left last
  std::uint32_t posts_ = 0;   // that this member has published in collective_
  call_signature call_{};
  std::uint32_t sequence_ = 0;
  std::uint64_t history_ = 0;
  bool published_ = false;
  std::uint32_t sleeps_ = 0;                    // how often this member has slept
  std::array<post_key, all_headers> keys_{};    // as published, by slot
  std::array<post_key, members_max> taken_{};   // as published, by writer
  std::array<std::uint32_t, slots> readers_{};  // of the posts in this collective, by slot
  // The last zero-copy post of this collective: for everybody, and for one reader.
  std::uint32_t last_address_ = 0;
  std::array<std::uint32_t, members_max> last_address_for_{};
  // What this member has found out about the others:
  std::uint64_t all_left_;
  std::array<std::uint64_t, members_max> left_by_{};
  std::array<post_key, members_max> taken_by_{};
  std::array<std::uint32_t, members_max> woken_{};  // sleep marks for which a wake-up was sent
};

}  // namespace apgas::inline v0::remote

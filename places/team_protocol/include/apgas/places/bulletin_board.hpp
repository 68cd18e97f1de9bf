// SPDX-License-Identifier: Apache-2.0
#pragma once

// A bulletin board: memory in which one member of a team, its *owner*, publishes *posts*, which
// other members read in place. Each member of a team has a board for this team, in memory that its
// host shares. A board is written by its owner only.
//
// The collectives that use the boards of a team are numbered, from 1. A post is identified by its
// collective and by its number in it, from 1; both together are its *key*. The board has a ring of
// `slots` posts for each of the last `collectives` collectives. A slot has a header with the key
// and with data of a few bytes. Longer data have slots in such rings of their own, for fewer
// collectives.
//
//                 written by   read by
//   header, data  the owner    the readers of the post
//   key           the owner    the readers of the post
//   taken         the owner    a member whose posts the owner reads: how many it has read
//   left          the owner    all: the last collective that the owner has left
//   asleep        the owner    all: the member for which the owner waits while it sleeps
//
// A slot gets another post of the same collective when all readers have taken the old one, and a
// post of another collective when all members have left the old one (free_for). Nobody else waits
// for a member: a reader that arrives late finds the post.
//
// A *zero-copy post* contains the address of long data instead of the data, and its readers copy
// them from the memory of the owner. The owner may change a part of the data only when no member
// reads that part any more, and all of them when all readers have taken the post. If its collective
// fails, it withdraws the post first, and a reader that has just copied data notices.
//
// Invariants
//   I1  A slot is written only after all readers of its last post have said that they need it no
//       more, by `taken` or by `left`.
//   I2  Each member uses what it has published itself from private memory. What it reads from other
//       boards is checked before it is used, except for the address of a zero-copy post, which only
//       the kernel checks.
// Pairs
//   P1  A reader that sees the key of a post sees its header and its data.
//   P2  An owner that sees `taken` or `left` of a reader may overwrite what it has read.
//   P3  Full fences. A member announces that it sleeps, executes the fence and looks once more for
//       what it waits for. A member publishes, executes the fence and looks for sleepers. At least
//       one of them sees the store of the other, so that nobody sleeps who would have to be woken.
//   P4  Full fences. An owner withdraws a zero-copy post, executes the fence and changes the data.
//       A reader copies them, executes the fence and looks whether the post is still there. If it
//       is, the reader has copied nothing of the changes.
//
// Zeros are an empty board. Model: tests/model/board_model.cpp.

#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::remote {

// A collective and the number of a post in it. Collectives are numbered modulo 2^32.
struct post_key {
  std::uint32_t collective = 0;
  std::uint32_t number = 0;

  static post_key of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32U), static_cast<std::uint32_t>(word)};
  }
  std::uint64_t word() const noexcept { return std::uint64_t{collective} << 32U | number; }
  bool operator==(const post_key&) const = default;
};

// The key of a post, or how far a reader is.
class published_key {
 public:
  // Context: the owner.
  void publish(const post_key& key) noexcept { word_.store(key.word(), base::release); }  // P1, P2
  // Context: any member.
  post_key look() const noexcept { return post_key::of(word_.load(base::acquire)); }  // P1, P2
  // Clears the key, before the owner changes the data of a zero-copy post.
  // Context: the owner.
  void withdraw() noexcept {
    word_.store(0, base::relaxed);
    base::full_fence();  // P4
  }
  // Whether the key is still there after a reader has copied the data of a zero-copy post.
  // Context: a reader.
  bool remains(const post_key& key) const noexcept {
    base::full_fence();  // P4
    return word_.load(base::relaxed) == key.word();
  }

 private:
  base::atomic<std::uint64_t> word_{0};
};

// Whether a slot of a ring of `slots` posts may get the post `next`, if its reader has taken the
// posts up to `taken`. It takes none of earlier collectives, which the owner has waited for.
inline bool free_for(const post_key& next, const post_key& taken, std::uint32_t slots) noexcept {
  if (next.number <= slots) return true;
  return taken.collective == next.collective && taken.number >= next.number - slots;
}

// Says for which member the owner waits while it sleeps.
class sleep_mark {
 public:
  static constexpr std::uint32_t members_max = 0xffff;

  // Announces that the owner sleeps until `member` has published something, unless it finds that
  // afterwards. `times` is another number each time.
  // Context: the owner.
  void announce(std::uint32_t member, std::uint32_t times) noexcept {
    word_.store(times << 16U | (member + 1), base::relaxed);
    base::full_fence();  // P3
  }
  // Context: the owner.
  void clear() noexcept { word_.store(0, base::relaxed); }
  // The announcement if the owner waits for `member`, and 0 otherwise.
  // Context: that member, after fence_before_look().
  std::uint32_t waits_for(std::uint32_t member) const noexcept {
    const std::uint32_t word = word_.load(base::relaxed);
    return (word & members_max) == member + 1 ? word : 0;
  }
  // Comes between what a member has published and its look at the sleep marks of others.
  static void fence_before_look() noexcept { base::full_fence(); }  // P3

 private:
  base::atomic<std::uint32_t> word_{0};
};

}  // namespace apgas::inline v0::remote

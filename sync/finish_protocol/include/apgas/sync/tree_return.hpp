// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::sync {

// Decides to which place a remote finish returns its credit. By default every place returns
// directly to the home place. When tasks were spawned along a tree of places, returns follow the
// tree instead, so that the home place receives one message for each of its children. It exists
// beside a remote_finish_state and lives as long. This is a pure state machine: it does not lock,
// read the time, send or allocate.
//
// A place may link a frame that it sends. By that it promises to keep its remote finish state until
// the link is released. If the frame reaches a place that had nothing of the finish, the sender
// becomes the parent of that place: the place will return its credit to the parent, and the return
// releases the link. If the frame reaches a place that had something of the finish already and has
// another parent or none, that place releases the link at once.
//
// Context:  one caller at a time, under the lock of the table of remote finishes.
// Order:    messages may arrive in any order.
//
// Invariants (docs/protocols/finish.md has the proof)
//   T1  owed() is the number of linked frames of this place on their way, plus the links that its
//       children hold, plus the links in returns and releases on their way to it.
//   T2  If owed() > 0, the remote finish state exists and its pool is not empty.
//   T3  The parent links form a forest, whose roots return to the home place.
class tree_return {
 public:
  static constexpr std::int32_t to_home = -1;
  // The most frames that a place links until it gives back. The limit bounds the number of releases
  // that it causes by sending to places which had been reached before.
  static constexpr std::uint8_t links_max = 16;
  // The deepest level of the tree. Without a limit, a long chain would return hop by hop. The level
  // has five bits in the frame header.
  static constexpr std::uint8_t levels_max = 31;

  // A frame leaves with its share. Returns the level for its header; 0 means that it is not linked.
  // Not to be called for a frame to the home place or to this place, nor for an `at`, whose reply
  // brings the credit back. The limits have other values in tests only.
  [[nodiscard]] std::uint8_t link(std::uint8_t links = links_max,
                                  std::uint8_t levels = levels_max) noexcept {
    if (made_ >= links || level_ >= levels) return 0;
    ++made_;
    ++owed_;
    return static_cast<std::uint8_t>(level_ + 1);
  }

  // Frames of `source` arrived in one message, and `linked` of them are linked, all at `level`.
  // `fresh` says that the remote_finish_state was empty before. Returns the number of links to
  // release now, in a message to `source`.
  [[nodiscard]] std::uint8_t on_arrival(bool fresh, std::int32_t source, std::uint8_t level,
                                        std::uint8_t linked) noexcept {
    APGAS_ASSERT(!fresh || empty(), "a place has links and no credit");
    if (linked == 0) return 0;
    if (fresh) {
      parent_ = source;
      level_ = level;
    }
    if (parent_ != source) return linked;
    held_ = static_cast<std::uint8_t>(held_ + linked);
    return 0;
  }

  // A return or a release arrived, which releases `links` links of this place.
  void on_release(std::uint8_t links) noexcept {
    APGAS_ASSERT(links > 0 && links <= owed_, "a link is released that was never made");
    owed_ = static_cast<std::uint8_t>(owed_ - links);
  }

  // Returns the number of links of this place that are not released. It must not give its credit
  // back before this is 0, or the home place or the parent would not learn of the children.
  std::uint8_t owed() const noexcept { return owed_; }
  // Returns whether this place has a parent. If so, it does not give its credit back in the reply
  // of an `at`, which may go to another place.
  bool linked() const noexcept { return held_ > 0; }

  struct target {
    std::int32_t place;  // the parent, or to_home
    std::uint8_t links;  // the links of the parent that the return releases
  };
  // Returns where to send the credit. Called together with remote_finish_state::give_back, under
  // the same lock. The object is as new afterwards.
  [[nodiscard]] target give_back() noexcept {
    APGAS_ASSERT(owed_ == 0, "a place returns before its children");
    const target to{parent_, held_};
    *this = tree_return{};
    return to;
  }

  // Returns whether no link is held or owed.
  bool empty() const noexcept { return owed_ == 0 && held_ == 0; }
  std::int32_t parent() const noexcept { return parent_; }
  std::uint8_t held() const noexcept { return held_; }

 private:
  friend struct finish_test_access;  // the simulation, which dumps the state and injects faults

  std::int32_t parent_ = to_home;
  std::uint8_t level_ = 0;  // links between this place and the root of its tree
  std::uint8_t made_ = 0;   // links made since the object was new
  std::uint8_t owed_ = 0;   // of these, the links that are not released
  std::uint8_t held_ = 0;   // links of the parent that this place holds
};
static_assert(sizeof(tree_return) == 8);

}  // namespace apgas::inline v0::sync

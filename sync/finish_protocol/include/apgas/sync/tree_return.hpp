// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::sync {

// Whom a place gives its credit back to. Without ties every place returns straight home; where
// places were reached along a tree, ties make the returns come back along it, and home receives as
// many as it has children. Stands beside remote_finish_state and lives as long.
// A pure state machine: no lock, no clock, nothing sent, nothing allocated.
//
// A place may tie a frame that it sends: it promises to stay until that tie is released. The place
// that the frame reaches, if it had nothing of the finish, makes the sender its parent: it returns
// to it, not home, and the return releases the tie. If it had, it releases the tie at once.
//
// Context:  one caller at a time (under the lock of the proxy table).
// Order:    of messages does not matter.
//
// Invariants (proof in docs/protocols/finish.md)
//   T1  owed() = tied frames of this place on their way + ties that children hold + ties in returns
//       and releases on their way to it.
//   T2  owed() > 0 implies that the proxy is there and its pool is not empty.
//   T3  Parents form a forest, whose roots return home.
class tree_return {
 public:
  static constexpr std::int32_t to_home = -1;
  // A place waits for so many children at most, of all that it reaches until it returns: what it
  // sends to places that are reached already costs no more releases than that.
  static constexpr std::uint8_t links_max = 16;
  // So far from home at most, or a chain would return hop by hop. Five bits in the frame.
  static constexpr std::uint8_t levels_max = 31;

  // A frame leaves, with its share. Not for a frame to home or to this place, nor of an `at`, whose
  // reply brings the credit. Returns the level for the header; 0: not tied.
  // The limits are other values in tests only.
  [[nodiscard]] std::uint8_t link(std::uint8_t links = links_max,
                                 std::uint8_t levels = levels_max) noexcept {
    if (made_ >= links || level_ >= levels) return 0;
    ++made_;
    ++owed_;
    return static_cast<std::uint8_t>(level_ + 1);
  }

  // Frames of `source` arrived, in one message, and `tied` of them were, all at this level.
  // `fresh`: remote_finish_state was empty before. Returns how many ties to release in a message now.
  [[nodiscard]] std::uint8_t on_arrival(bool fresh, std::int32_t source, std::uint8_t level,
                                        std::uint8_t linked) noexcept {
    APGAS_ASSERT(!fresh || empty(), "a place has ties and no credit");
    if (linked == 0) return 0;
    if (fresh) {
      parent_ = source;
      level_ = level;
    }
    if (parent_ != source) return linked;
    held_ = static_cast<std::uint8_t>(held_ + linked);
    return 0;
  }

  // A return or a release came and brought so many ties back.
  void on_release(std::uint8_t links) noexcept {
    APGAS_ASSERT(links > 0 && links <= owed_, "a tie is released that nobody made");
    owed_ = static_cast<std::uint8_t>(owed_ - links);
  }

  // Nothing is given back before: home, or the parent, would not hear of the children.
  std::uint8_t owed() const noexcept { return owed_; }
  // Gives back to its parent: not with the reply of an `at`, which may go elsewhere.
  bool linked() const noexcept { return held_ > 0; }

  struct target {
    std::int32_t place;  // or to_home
    std::uint8_t links;   // released by the return
  };
  // With remote_finish_state::give_back, under the same lock. Afterwards as new.
  [[nodiscard]] target give_back() noexcept {
    APGAS_ASSERT(owed_ == 0, "a place returns before its children");
    const target to{parent_, held_};
    *this = tree_return{};
    return to;
  }

  bool empty() const noexcept { return owed_ == 0 && held_ == 0; }
  std::int32_t parent() const noexcept { return parent_; }
  std::uint8_t held() const noexcept { return held_; }

 private:
  friend struct finish_test_access;  // the simulation: state dumps, and faults on purpose

  std::int32_t parent_ = to_home;
  std::uint8_t level_ = 0;  // ties between this place and one that returns home
  std::uint8_t made_ = 0;   // since the machine was new
  std::uint8_t owed_ = 0;   // of these, not released
  std::uint8_t held_ = 0;   // of the parent's
};
static_assert(sizeof(tree_return) == 8);

}  // namespace apgas::inline v0::sync

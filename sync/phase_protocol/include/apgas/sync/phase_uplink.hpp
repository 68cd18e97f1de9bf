// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <apgas/base/assert.hpp>

// What the replica of a clock or phaser tells its home, and when the senders of travellers are told
// that those have arrived. A pure state machine: no lock, nobody waits here, nothing is sent.
//
// For the home the replica is one signaller, whose position is the first phase that somebody here
// has not signalled. look() compares what the node is like with what the home knows, so it may be
// called at any time, and as often as one likes; it must be called after every change.
//
// Invariants
//   U1  The home knows of the replica from the first look() until it hears that it is gone.
//   U2  The position is never before the home's phase: whoever is counted there keeps it.
//   U3  A traveller is kept until the home has acknowledged everything that moved the position back
//       before it was noted.
// docs/protocols/phase.md has the proof.
namespace apgas::inline v0::sync {

// Registrations of one sender, which it counts until they are told to have arrived.
struct phase_transits {
  int sender = 0;
  std::uint32_t leaf = 0;  // of the sender
  std::int64_t at = 0;     // the first phase not signalled; of one that only waits: not waited for
  bool signals = false;
  std::uint32_t number = 1;
};

class phase_uplink {
 public:
  // A position before all phases: nobody signals here, the home only tells of phases.
  static constexpr std::int64_t silent = -1;

  // What the node is like.
  struct view {
    std::int64_t phase = 0;
    std::int64_t first = silent;  // that a signaller here has not signalled
    bool members = false;
  };

  // The home must hear the new position; and acknowledge, if it moved back.
  struct news {
    std::int64_t at = silent;
    bool acknowledge = false;
  };

  [[nodiscard]] std::optional<news> look(const view& v) {
    if (v.first == told_) return std::nullopt;
    const bool back =
        told_ == unknown || (v.first != silent && (told_ == silent || v.first < told_));
    told_ = v.first;
    if (back) ++asked_;
    return news{told_, back};
  }

  // True: its sender is told now. False: when on_acknowledged() returns it.
  [[nodiscard]] bool may_tell(const phase_transits& t) {
    if (answered_ == asked_) return true;
    for (kept& k : kept_) {
      if (k.after == asked_ && k.who.sender == t.sender && k.who.leaf == t.leaf &&
          k.who.at == t.at && k.who.signals == t.signals) {
        k.who.number += t.number;
        return false;
      }
    }
    kept_.push_back({asked_, t});
    return false;
  }

  // The home has acknowledged the oldest news that it had not. Returns whose senders are told now.
  [[nodiscard]] std::vector<phase_transits> on_acknowledged() {
    APGAS_ASSERT(answered_ != asked_, "a clock's home acknowledged what it was not told");
    ++answered_;
    std::vector<phase_transits> told;
    const auto unarrived =
        std::ranges::stable_partition(kept_, [this](const kept& k) { return k.after > answered_; });
    for (const kept& k : unarrived) told.push_back(k.who);
    kept_.erase(unarrived.begin(), unarrived.end());
    return told;
  }

  // Whether the replica can go: nobody is registered here, and no message to it matters any more.
  bool may_go(const view& v) const noexcept {
    return !v.members && told_ != unknown && answered_ == asked_;
  }

  bool acknowledged() const noexcept { return answered_ == asked_; }
  std::int64_t told() const noexcept { return told_; }

 private:
  friend struct uplink_test_access;  // the simulation: state dumps, and faults on purpose

  static constexpr std::int64_t unknown = -2;

  struct kept {
    std::uint64_t after;  // told when so much is acknowledged
    phase_transits who;
  };

  std::int64_t told_ = unknown;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<kept> kept_;
};

}  // namespace apgas::inline v0::sync

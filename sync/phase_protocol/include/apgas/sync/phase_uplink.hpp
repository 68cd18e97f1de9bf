// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <apgas/base/assert.hpp>

// What a replica of a clock or phaser reports to its home, and when the senders of registrations in
// transit may be told of their arrival. A pure state machine: it takes no lock, suspends no task
// and sends no message.
//
// In the home's counter the whole replica is one signaller. Its *position* is the first phase that
// some signaller at the replica has not signalled. look() compares the state of the replica's tree
// node with what the home knows. It may be called at any time and any number of times, and must be
// called after every change.
//
// Invariants
//   U1  The home knows of the replica from the first look() until it receives `gone`.
//   U2  The position is never before the home's phase, since every signaller counted at the
//       position holds that phase open.
//   U3  The sender of a registration in transit is told of the arrival only after the home has
//       acknowledged every report that moved the position back before the registration arrived.
// docs/protocols/phase.md has the proof.
namespace apgas::inline v0::sync {

// Registrations in transit that are alike: same sender, leaf, phase and capability. The sender
// counts them at its own leaf until it is told that they have arrived.
struct phase_transits {
  int sender = 0;
  std::uint32_t leaf = 0;  // of the phaser tree at the sender
  std::int64_t at = 0;     // the first phase not signalled; for wait-only tasks, not waited for
  bool signals = false;
  std::uint32_t number = 1;
};

class phase_uplink {
 public:
  // The position of a replica without signallers. The home only announces phases to it.
  static constexpr std::int64_t silent = -1;

  // The state of the replica's tree node.
  struct view {
    std::int64_t phase = 0;
    std::int64_t first = silent;  // the first phase that some signaller here has not signalled
    bool members = false;
  };

  // A report to the home: the new position. A report that moves the position back asks for an
  // acknowledgement.
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

  // Whether the sender of `t` may be told of the arrival now. Otherwise a later on_acknowledged()
  // returns `t`.
  [[nodiscard]] bool may_tell(const phase_transits& t) {
    if (answered_ == asked_) return true;
    for (kept& k : kept_) {
      if (k.after == asked_ && k.transit.sender == t.sender && k.transit.leaf == t.leaf &&
          k.transit.at == t.at && k.transit.signals == t.signals) {
        k.transit.number += t.number;
        return false;
      }
    }
    kept_.push_back({asked_, t});
    return false;
  }

  // The home has acknowledged the oldest unacknowledged report. Returns the transits whose senders
  // may be told now.
  [[nodiscard]] std::vector<phase_transits> on_acknowledged() {
    APGAS_ASSERT(answered_ != asked_, "a clock's home acknowledged what it was not told");
    ++answered_;
    std::vector<phase_transits> told;
    const auto acknowledged_now =
        std::ranges::stable_partition(kept_, [this](const kept& k) { return k.after > answered_; });
    for (const kept& k : acknowledged_now) told.push_back(k.transit);
    kept_.erase(acknowledged_now.begin(), acknowledged_now.end());
    return told;
  }

  // Whether the replica can be removed: no task is registered here, and no message to it matters
  // any more.
  bool may_go(const view& v) const noexcept {
    return !v.members && told_ != unknown && answered_ == asked_;
  }

  bool acknowledged() const noexcept { return answered_ == asked_; }
  std::int64_t told() const noexcept { return told_; }

 private:
  friend struct uplink_test_access;  // the simulator: dumps of the state, and injected faults

  static constexpr std::int64_t unknown = -2;

  struct kept {
    std::uint64_t after;  // the number of acknowledgements needed first
    phase_transits transit;
  };

  std::int64_t told_ = unknown;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<kept> kept_;
};

}  // namespace apgas::inline v0::sync

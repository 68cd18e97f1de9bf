// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/assert.hpp>
#include <apgas/sync/credit.hpp>

namespace apgas::inline v0::sync {

// The home side of a finish: the ledger of the credit that is away. The tasks at home are counted
// elsewhere (a task counter); while credit is away, that counter holds one unit for it, which the
// events below tell the caller to take and to drop. When the counter is zero the finish is
// complete. A pure state machine: no lock, no clock, nothing sent, nothing allocated.
//
// Context:  one caller at a time (under the lock of the finish). A unit is taken before the lock
//           is released and dropped after.
// Order:    of messages does not matter.
//
// Invariants (proof in docs/protocols/finish.md)
//   H1  outstanding() = credit in pools of proxies + credit in frames and messages on their way.
//   H2  The caller holds a unit of the counter exactly while outstanding() > 0.
//   H3  outstanding() = 0 implies balance_ = 0: as many task frames were received as sent.
class finish_home {
 public:
  struct minted {
    std::uint64_t share;  // goes with the frame or the grant
    bool takes_count;      // nothing was away: add one unit to the counter
  };

  // A task goes from home to another place. Requires: the caller's task holds a unit.
  // `share` is another value in tests only.
  [[nodiscard]] minted mint(std::uint64_t share = full_share) noexcept {
    ++balance_;
    return issue(share);
  }

  // A place asks for more; the share goes back to it in a grant message. Credit is away already,
  // unless the asker is a guest (remote_finish_state::split_escaping): its own finish keeps this one alive.
  [[nodiscard]] minted on_request(std::uint64_t share = full_share) noexcept { return issue(share); }

  // A return message, or the reply of an `at` called at home that carried credit.
  // True: nothing is away any more, drop the unit.
  [[nodiscard]] bool on_return(const returned_credit& returned) noexcept {
    balance_ += returned.balance;
    return receive(returned.credit());
  }

  // `frames` task frames from other places, with `credit` together. True: drop the unit.
  // Order: count the tasks as local ones first, or the finish may complete before they run.
  [[nodiscard]] bool on_arrival(credit_sum credit, std::uint64_t frames = 1) noexcept {
    balance_ -= static_cast<std::int64_t>(frames);
    return receive(credit);
  }

  credit_sum outstanding() const noexcept { return outstanding_; }

 private:
  friend struct finish_test_access;  // the simulation: state dumps, and faults on purpose

  minted issue(std::uint64_t share) noexcept {
    APGAS_ASSERT(share > 0, "a share is never empty");
    const bool first = outstanding_ == 0;
    outstanding_ += share;
    APGAS_ASSERT(outstanding_ >= share, "more than 2^66 shares of one finish are away");
    return {share, first};
  }

  bool receive(credit_sum credit) noexcept {
    APGAS_ASSERT(credit > 0, "a message of a finish came without credit");
    APGAS_ASSERT(credit <= outstanding_, "a finish got back more credit than it lent");
    outstanding_ -= credit;
    if (outstanding_ != 0) return false;
    APGAS_ASSERT(balance_ == 0, "all credit is home, but not all task frames were received");
    return true;
  }

  credit_sum outstanding_ = 0;
  std::int64_t balance_ = 0;  // task frames sent less received, as far as home knows
};

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/assert.hpp>
#include <apgas/sync/credit.hpp>

namespace apgas::inline v0::sync {

// The home place's part of the remote finish protocol: a ledger of the credit that is away. Tasks
// at the home place are counted by a task counter. While credit is away, that counter holds one
// pending count for it, and the events below tell the caller when to add and when to release that
// count. When the counter is zero, the finish is complete. This is a pure state machine: it does
// not lock, read the time, send or allocate.
//
// Context:  one caller at a time, under the lock of the finish. The count is added before the lock
//           is released, and released afterwards.
// Order:    messages may arrive in any order.
//
// Invariants (docs/protocols/finish.md has the proof)
//   H1  outstanding() is the credit in the pools of all other places, plus the credit in all frames
//       and messages on their way.
//   H2  The caller holds a pending count for the credit if and only if outstanding() > 0.
//   H3  If outstanding() = 0 then balance_ = 0: as many task frames were received as were sent.
class finish_home {
 public:
  struct minted {
    std::uint64_t share;  // goes with the frame or the grant
    bool takes_count;     // no credit was away, so the caller adds a pending count
  };

  // A task is sent from the home place. Requires: the sending task is counted in this finish.
  // `share` has another value in tests only.
  [[nodiscard]] minted mint(std::uint64_t share = full_share) noexcept {
    ++balance_;
    return issue(share);
  }

  // A place asks for credit; the share goes back to it in a grant. Other credit is away already,
  // unless the request comes from an escaping spawn (remote_finish_state::split_escaping). In that
  // case the finish of the escaping task keeps this one alive.
  [[nodiscard]] minted on_request(std::uint64_t share = full_share) noexcept {
    return issue(share);
  }

  // A return message arrived, or the reply of an `at` called at home that carries credit.
  // Returns true if no credit is away any more; then the caller releases the count.
  [[nodiscard]] bool on_return(const returned_credit& returned) noexcept {
    balance_ += returned.balance;
    return receive(returned.credit());
  }

  // `frames` task frames arrived from other places, with `credit` in all. Returns true if no credit
  // is away any more; then the caller releases the count.
  // Order: the caller counts the tasks as local ones before this call, or the finish might complete
  // before they run.
  [[nodiscard]] bool on_arrival(credit_sum credit, std::uint64_t frames = 1) noexcept {
    balance_ -= static_cast<std::int64_t>(frames);
    return receive(credit);
  }

  // Returns the credit that is away.
  credit_sum outstanding() const noexcept { return outstanding_; }

 private:
  friend struct finish_test_access;  // the simulation, which dumps the state and injects faults

  minted issue(std::uint64_t share) noexcept {
    APGAS_ASSERT(share > 0, "a share is never empty");
    const bool first = outstanding_ == 0;
    outstanding_ += share;
    APGAS_ASSERT(outstanding_ >= share, "more than 2^66 shares of one finish are away");
    return {share, first};
  }

  bool receive(credit_sum credit) noexcept {
    APGAS_ASSERT(credit > 0, "a message of a finish came without credit");
    APGAS_ASSERT(credit <= outstanding_, "a finish got back more credit than it issued");
    outstanding_ -= credit;
    if (outstanding_ != 0) return false;
    APGAS_ASSERT(balance_ == 0, "all credit is home, but not all task frames were received");
    return true;
  }

  credit_sum outstanding_ = 0;
  std::int64_t balance_ = 0;  // task frames sent less task frames received, as far as home knows
};

}  // namespace apgas::inline v0::sync

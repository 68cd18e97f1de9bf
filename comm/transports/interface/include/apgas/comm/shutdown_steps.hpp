// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a rank ends a run, so that no message of the run is left anywhere. A pure state machine: it
// sends no messages and waits for nothing. docs/protocols/wire.md describes the protocol.
//
//   running     ─begin()→
//   sending     until everything that was posted here has been sent
//   counting    a collective: each rank learns how many messages were sent to it
//   receiving   until all of them have arrived and have been delivered
//   rendezvous  a collective: all ranks have reached this step
//   over
//
// Invariants
//   E1  A rank sends no message of the run after it has entered `counting`.
//   E2  A rank takes no message in `rendezvous` or `over`. Messages that arrive then belong to the
//       next run.
//   E3  When a rank is `over`, every message of the run has been delivered at every rank. The rank
//       leaves `rendezvous` only after all ranks have entered it, and each entered it only after it
//       had received all messages that, by E1, can exist.

#include <cstdint>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::comm {

class shutdown_steps {
 public:
  enum class step : std::uint8_t { running, sending, counting, receiving, rendezvous, over };
  // What the transport must do next: start a collective of all ranks. All ranks start the same
  // collectives in the same order.
  enum class action : std::uint8_t { nothing, begin_counts, begin_rendezvous };

  // The state of the transport.
  struct view {
    bool sending = false;          // a message posted here has not been sent
    bool collective_done = false;  // the last one started has completed; then `expected` is valid
    std::uint64_t expected = 0;    // messages of the run sent to this rank
    std::uint64_t received = 0;    // how many of them have arrived
    bool delivering = false;       // a message is incomplete or has not been delivered
  };

  void restart() noexcept { now_ = step::running; }
  void begin() {
    APGAS_ASSERT(now_ == step::running, "the end of a run was begun twice");
    now_ = step::sending;
  }

  // Advances the machine as far as `v` allows. The caller repeats it until over().
  [[nodiscard]] action advance(const view& v) {
    switch (now_) {
      case step::running:
        APGAS_UNREACHABLE("a run has not begun to end");
      case step::sending:
        if (v.sending) return action::nothing;
        now_ = step::counting;
        return action::begin_counts;
      case step::counting:
        if (!v.collective_done) return action::nothing;
        now_ = step::receiving;
        [[fallthrough]];
      case step::receiving:
        APGAS_ASSERT(v.received <= v.expected, "more messages arrived than were sent");
        if (v.received < v.expected || v.delivering) return action::nothing;
        now_ = step::rendezvous;
        return action::begin_rendezvous;
      case step::rendezvous:
        if (v.collective_done) now_ = step::over;
        return action::nothing;
      case step::over:
        return action::nothing;
    }
    return action::nothing;
  }

  // Whether messages that arrive now belong to this run.
  bool takes_messages() const noexcept { return now_ != step::rendezvous && now_ != step::over; }
  step now() const noexcept { return now_; }
  bool over() const noexcept { return now_ == step::over; }

 private:
  step now_ = step::running;
};

}  // namespace apgas::inline v0::comm

// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a rank ends a run, so that no message of it is left anywhere. A pure state machine: it sends
// nothing and waits for nobody. docs/protocols/wire.md
//
//   running   ─begin()→
//   sending   until all that was posted here has been sent
//   counting  a collective: each rank learns how many messages were sent to it
//   receiving until all of those have come and were delivered
//   meeting   a collective: all ranks have got so far
//   over
//
// Invariants
//   E1  A rank sends no message of the run after it entered counting.
//   E2  A rank takes no message in meeting or over: what comes then is of the next run.
//   E3  When a rank is over, every message of the run was delivered, everywhere: it left meeting
//       only after all had entered that, each after receiving what by E1 is all there is.

#include <cstdint>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::comm {

class shutdown_steps {
 public:
  enum class step : std::uint8_t { running, sending, counting, receiving, rendezvous, over };
  // What the transport does now: begins a collective of all ranks, which comes next in the same
  // order everywhere.
  enum class act : std::uint8_t { nothing, begin_counts, begin_rendezvous };

  // What the transport is like.
  struct view {
    bool sending = false;          // something posted here has not been sent
    bool collective_done = false;  // the one begun last; then `expected` is known
    std::uint64_t expected = 0;    // messages of the run that were sent to this rank
    std::uint64_t received = 0;    // of these, those that came
    bool delivering = false;       // one is incomplete or was not delivered
  };

  void restart() noexcept { now_ = step::running; }
  void begin() {
    APGAS_ASSERT(now_ == step::running, "the end of a run begins once");
    now_ = step::sending;
  }

  // Level-triggered: to be called again and again until over.
  [[nodiscard]] act look(const view& v) {
    switch (now_) {
      case step::running:
        APGAS_UNREACHABLE("a run has not begun to end");
      case step::sending:
        if (v.sending) return act::nothing;
        now_ = step::counting;
        return act::begin_counts;
      case step::counting:
        if (!v.collective_done) return act::nothing;
        now_ = step::receiving;
        [[fallthrough]];
      case step::receiving:
        APGAS_ASSERT(v.received <= v.expected, "more messages came than were sent");
        if (v.received < v.expected || v.delivering) return act::nothing;
        now_ = step::rendezvous;
        return act::begin_rendezvous;
      case step::rendezvous:
        if (v.collective_done) now_ = step::over;
        return act::nothing;
      case step::over:
        return act::nothing;
    }
    return act::nothing;
  }

  // Whether messages that come now are of this run.
  bool takes_messages() const noexcept { return now_ != step::rendezvous && now_ != step::over; }
  step now() const noexcept { return now_; }
  bool over() const noexcept { return now_ == step::over; }

 private:
  step now_ = step::running;
};

}  // namespace apgas::inline v0::comm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/assert.hpp>

// The counter behind clocks and phasers. It knows how many signallers have not yet arrived in the
// current phase, and so when the phase is complete. A pure state machine: it takes no lock,
// suspends no task and sends no message.
//
// Phases are numbered from 0. A signaller is a task with the signal capability. It is counted at
// the first phase that it has not signalled. A signaller counted at phase() is *unarrived* (the
// word of java.util.concurrent.Phaser): the phase cannot end without it. One counted at phase() + 1
// has *arrived early*. A signal-only task may run ahead by any number of phases. In a tree of
// counters the children of an inner counter are its signallers: a child signals its parent when the
// last unarrived signaller of the child has arrived.
//
// Events of different counters may be reordered, with two restrictions: a signaller may join at
// phase s only while another signaller that has not signalled s holds the phase open; and nothing
// may happen to a child whose phase is reopened (change::reopened) before its parent knows.
// docs/protocols/phase.md has the proof.
//
// Invariants
//   C1  unarrived() is the number of signallers counted at phase(). The phase is complete if and
//       only if it is 0.
//   C2  signallers() is the number of signallers that joined minus the number that left.
//   C3  No signaller is counted at a phase before phase().
namespace apgas::inline v0::sync {

class phase_counter {
 public:
  enum class change : std::uint8_t {
    none,
    completed,  // the last unarrived signaller has arrived: tell the parent, or advance the phase
    reopened,   // a signaller is unarrived again in a phase that was complete: tell the parent
  };

  phase_counter() = default;
  // A counter that starts in `phase`: all earlier phases are over.
  explicit phase_counter(std::int64_t phase) noexcept : phase_(phase) {}

  std::int64_t phase() const noexcept { return phase_; }
  std::int64_t unarrived() const noexcept { return unarrived_; }
  std::int64_t signallers() const noexcept { return signallers_; }

  // The first phase that some signaller has not signalled. Requires: there is a signaller, and no
  // child is counted twice (see rejoin()).
  std::int64_t first() const noexcept {
    if (unarrived_ != 0) return phase_;
    if (arrived_early_ != 0) return phase_ + 1;
    std::size_t i = first_ahead_;
    while (ahead_[i] == 0) ++i;
    return phase_ + 2 + static_cast<std::int64_t>(i - first_ahead_);
  }

  // Adds `n` signallers whose next signal is for phase s. Requires: s >= phase().
  [[nodiscard]] change join(std::int64_t s, std::int64_t n = 1) {
    const bool was_complete = unarrived_ == 0;
    at(s) += n;
    signallers_ += n;
    return was_complete && unarrived_ != 0 ? change::reopened : change::none;
  }

  // `n` of the signallers counted at phase s signal it.
  [[nodiscard]] change signal(std::int64_t s, std::int64_t n = 1) { return record(s, n, 0); }

  // `n` of the signallers counted at phase s deregister.
  [[nodiscard]] change leave(std::int64_t s, std::int64_t n = 1) { return record(s, 0, n); }

  // signal() and leave() in one step.
  [[nodiscard, gnu::always_inline]] change record(std::int64_t s, std::int64_t signal,
                                                  std::int64_t leave) {
    const bool was_unarrived = unarrived_ != 0;
    if (signal != 0) at(s + 1) += signal;
    std::int64_t& count = at(s);
    count -= signal + leave;
    signallers_ -= leave;
    APGAS_ASSERT(count >= 0, "more tasks signalled a phase than take part in it");
    return was_unarrived && unarrived_ == 0 ? change::completed : change::none;
  }

  // A child that has completed this phase is unarrived again. The child's earlier signal may be
  // delivered only afterwards; until then unarrived() counts the child twice, and the number of
  // early arrivals is one too low.
  [[nodiscard]] change rejoin() {
    const bool was_complete = unarrived_ == 0;
    --arrived_early_;
    ++unarrived_;
    return was_complete ? change::reopened : change::none;
  }

  // Advances to the next phase. Requires: the current phase is complete in every counter of the
  // tree. Returns completed if no signaller is unarrived in the new phase either.
  [[nodiscard]] change advance_phase() {
    APGAS_ASSERT(unarrived_ == 0, "a phase ended before all had signalled");
    ++phase_;
    unarrived_ = arrived_early_;
    arrived_early_ = 0;
    if (first_ahead_ < ahead_.size()) {
      arrived_early_ = ahead_[first_ahead_++];
      if (first_ahead_ * 2 > ahead_.size()) {
        ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(first_ahead_));
        first_ahead_ = 0;
      }
    }
    return unarrived_ == 0 ? change::completed : change::none;
  }

 private:
  friend struct phase_test_access;  // the simulator: dumps of the state, and injected faults

  // The number of signallers counted at phase s.
  std::int64_t& at(std::int64_t s) {
    APGAS_ASSERT(s >= phase_, "a signaller is counted at a phase that is over");
    const auto k = static_cast<std::size_t>(s - phase_);
    if (k == 0) return unarrived_;
    if (k == 1) return arrived_early_;
    if (ahead_.size() < first_ahead_ + k - 1) ahead_.resize(first_ahead_ + k - 1);
    return ahead_[first_ahead_ + k - 2];
  }

  std::int64_t phase_ = 0;
  std::int64_t unarrived_ = 0;
  std::int64_t arrived_early_ = 0;
  std::int64_t signallers_ = 0;
  std::vector<std::int64_t> ahead_;  // those counted at phase_ + 2 and later, from first_ahead_ on
  std::size_t first_ahead_ = 0;
};

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/assert.hpp>

// The count behind clocks and phasers: who must still signal before a phase is complete. A pure
// state machine: no lock, nobody waits here, nothing is sent.
//
// Phases are numbered from 0. A signaller is counted at the first phase that it has not signalled:
// one at phase() is due, the phase waits for it; one that is a phase further is early; a
// signal-only task may be any number of phases ahead. In a tree of counters the children of an
// inner counter are its signallers: a child signals when nobody is due at it any more.
//
// Events of different counters need not be ordered, but for one rule: a signaller joins at phase s
// only while another one that is due at s, or has signalled no further, cannot go on. So a child
// that becomes due again (change::reopened) tells its parent before the phase can complete.
// docs/protocols/phase.md has the proof.
//
// Invariants
//   C1  due() = signallers at phase(); a phase is complete when it is 0 and not before.
//   C2  signallers() = joined less left.
//   C3  No signaller is counted at a phase before phase().
namespace apgas::inline v0::sync {

class phase_counter {
 public:
  enum class change : std::uint8_t {
    none,
    completed,  // nobody is due any more: the parent is told, or the phase rolls
    reopened,   // somebody is due again: the parent is told
  };

  phase_counter() = default;
  // One whose phases begin at `phase`: those before are over.
  explicit phase_counter(std::int64_t phase) noexcept : phase_(phase) {}

  std::int64_t phase() const noexcept { return phase_; }
  std::int64_t unarrived() const noexcept { return unarrived_; }
  std::int64_t signallers() const noexcept { return signallers_; }

  // The first phase that a signaller has not signalled. Requires: there is one, and no child is
  // counted twice.
  std::int64_t first() const noexcept {
    if (unarrived_ != 0) return phase_;
    if (arrived_early_ != 0) return phase_ + 1;
    std::size_t i = first_ahead_;
    while (ahead_[i] == 0) ++i;
    return phase_ + 2 + static_cast<std::int64_t>(i - first_ahead_);
  }

  // `n` signallers come in whose next signal is for phase s. Requires: s >= phase().
  [[nodiscard]] change join(std::int64_t s, std::int64_t n = 1) {
    const bool was_complete = unarrived_ == 0;
    at(s) += n;
    signallers_ += n;
    return was_complete && unarrived_ != 0 ? change::reopened : change::none;
  }

  // `n` of the signallers at phase s signal it.
  [[nodiscard]] change signal(std::int64_t s, std::int64_t n = 1) { return record(s, n, 0); }

  // `n` of the signallers at phase s go away.
  [[nodiscard]] change leave(std::int64_t s, std::int64_t n = 1) { return record(s, 0, n); }

  // Both at once.
  [[nodiscard]] change record(std::int64_t s, std::int64_t signal, std::int64_t leave) {
    const bool was_unarrived = unarrived_ != 0;
    if (signal != 0) at(s + 1) += signal;
    std::int64_t& count = at(s);
    count -= signal + leave;
    signallers_ -= leave;
    APGAS_ASSERT(count >= 0, "more tasks signalled a phase than take part in it");
    return was_unarrived && unarrived_ == 0 ? change::completed : change::none;
  }

  // A child that had signalled this phase is due again. The signal itself may come later: until
  // then the child is due twice and early -1 times.
  [[nodiscard]] change rejoin() {
    const bool was_complete = unarrived_ == 0;
    --arrived_early_;
    ++unarrived_;
    return was_complete ? change::reopened : change::none;
  }

  // The phase is complete everywhere: the next one begins. `completed`: nobody is due in it.
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
  friend struct phase_test_access;  // the simulation: state dumps, and faults on purpose

  // The count of the signallers at phase s.
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
  std::vector<std::int64_t> ahead_;  // at phase_ + 2 and on, from first_ahead_
  std::size_t first_ahead_ = 0;
};

}  // namespace apgas::inline v0::sync

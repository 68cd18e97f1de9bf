// SPDX-License-Identifier: Apache-2.0
#pragma once

// The counter under test, and the faults that can be injected into it and into the code that drives
// it. A simulation whose checker misses such a fault proves nothing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <apgas/sync/phase_counter.hpp>

#include "sim_phase_model.hpp"

namespace apgas::inline v0::sync {

// Access to the private state of the counter.
struct phase_test_access {
  static std::int64_t at(const phase_counter& c, std::int64_t s) {
    const std::int64_t k = s - c.phase_;
    if (k == 0) return c.unarrived_;
    if (k == 1) return c.arrived_early_;
    const auto i = static_cast<std::size_t>(k - 2) + c.first_ahead_;
    return k < 0 || i >= c.ahead_.size() ? 0 : c.ahead_[i];
  }
  static std::int64_t last(const phase_counter& c) {
    return c.phase_ + 1 + static_cast<std::int64_t>(c.ahead_.size() - c.first_ahead_);
  }
  static void add(phase_counter& c, std::int64_t s, std::int64_t n) { c.at(s) += n; }
};

}  // namespace apgas::inline v0::sync

namespace phase_sim {

using access = apgas::sync::phase_test_access;
using change = apgas::sync::phase_counter::change;

enum class fault {
  none,
  // of the counter
  rejoin_is_lost,
  completed_while_one_is_unarrived,
  signals_ahead_are_lost,
  // of a phaser tree node
  leaf_tells_twice,
  reopening_is_not_told,
  reopening_is_told_late,
  parks_after_the_advance,
  arrivals_are_one_short,
  arrivals_forget_ends,
  early_drop_is_unarrived,
  // of the tree
  advances_before_the_root_is_complete,
  complete_leaf_is_not_told,
  signals_ahead_do_not_advance,
  opens_with_a_leaf,
  never_opens,
  single_does_not_hold,
  second_advance_ignores_single,
  // of a tree that grows
  tree_is_found_too_early,
  root_does_not_wait_for_the_first_leaf,
  // of a task
  credit_is_not_returned,
  credit_is_given_twice,
  child_of_signalled_is_unarrived,
  leaves_before_it_joins,
  moves_to_a_leaf_behind,
  moves_with_credit,
  second_signal_counts,
  last,
};

inline std::string name(fault f) {
  static constexpr std::array names{"none",
                                    "rejoin_is_lost",
                                    "completed_while_one_is_unarrived",
                                    "signals_ahead_are_lost",
                                    "leaf_tells_twice",
                                    "reopening_is_not_told",
                                    "reopening_is_told_late",
                                    "parks_after_the_advance",
                                    "arrivals_are_one_short",
                                    "arrivals_forget_ends",
                                    "early_drop_is_unarrived",
                                    "advances_before_the_root_is_complete",
                                    "complete_leaf_is_not_told",
                                    "signals_ahead_do_not_advance",
                                    "opens_with_a_leaf",
                                    "never_opens",
                                    "single_does_not_hold",
                                    "second_advance_ignores_single",
                                    "tree_is_found_too_early",
                                    "root_does_not_wait_for_the_first_leaf",
                                    "credit_is_not_returned",
                                    "credit_is_given_twice",
                                    "child_of_signalled_is_unarrived",
                                    "leaves_before_it_joins",
                                    "moves_to_a_leaf_behind",
                                    "moves_with_credit",
                                    "second_signal_counts"};
  static_assert(names.size() == static_cast<std::size_t>(fault::last));
  return names[static_cast<std::size_t>(f)];
}

// A phase_counter with at most one fault. Where the counter would fail an assertion, this class
// throws.
class tested_counter {
 public:
  explicit tested_counter(fault f) : fault_(f) {}
  void begin_at(std::int64_t p) { machine_ = apgas::sync::phase_counter(p); }
  const apgas::sync::phase_counter& machine() const { return machine_; }
  std::int64_t phase() const { return machine_.phase(); }
  std::int64_t unarrived() const { return machine_.unarrived(); }
  std::int64_t signallers() const { return machine_.signallers(); }

  change join(std::int64_t s, std::int64_t n) {
    require(s >= phase(), "a signaller joins a phase that is over", s);
    return machine_.join(s, n);
  }
  change record(std::int64_t s, std::int64_t signal, std::int64_t leave) {
    require(s >= phase(), "a signal is for a phase that is over", s);
    require(access::at(machine_, s) >= signal + leave, "too many signallers signal a phase", s);
    return machine_.record(s, signal, leave);
  }
  change rejoin() {
    if (fault_ == fault::rejoin_is_lost) return change::none;
    return machine_.rejoin();
  }
  change advance_phase() {
    require(unarrived() == 0, "a phase ends before all have signalled", phase());
    if (fault_ == fault::signals_ahead_are_lost && access::at(machine_, phase() + 2) > 0) {
      access::add(machine_, phase() + 2, -1);
    }
    return machine_.advance_phase();
  }

 private:
  apgas::sync::phase_counter machine_;
  fault fault_;
};

}  // namespace phase_sim

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/wait_queue.hpp>

// Whose turn it is at a variable that is full or empty. An operation acquires the variable in the
// state it wants, uses the value, and releases it in the state it leaves: copying the value is user
// code and happens under no lock.
//
//              acquire(state)              release(state)
//   full / empty ─────────────▶ in use ─────────────────▶ full / empty, or in use by the next
//
//   state_, last_, queues   lock holder; state_ is looked at without it, to see whether to wait
//
// Invariants
//   I1  Who waits for a state was there before every later operation of that kind: served in order.
//   I2  While the variable is full nobody waits for full, and likewise for empty; nobody waits for
//       either state alone unless it is in use.
namespace apgas::inline v0::sync {

class full_empty {
 public:
  enum class state : unsigned char { empty, full, in_use };
  enum class want : unsigned char { empty, full, either };

  explicit full_empty(state begin) noexcept : state_(begin), last_(begin) {}
  full_empty(const full_empty&) = delete;
  full_empty& operator=(const full_empty&) = delete;

  // Returns the state found. Context: task that may suspend.
  state acquire(want w) noexcept;

  // Requires: acquired. Context: task.
  void release(state left) noexcept;

  // The state, or while the variable is in use the one before. Context: any thread.
  bool is_full() noexcept;

 private:
  bool is_wanted(want w) const noexcept {
    const state now = state_.load(base::relaxed);
    return w == want::either ? now != state::in_use
                             : now == (w == want::full ? state::full : state::empty);
  }
  bool take(want w) noexcept;
  wait_queue& queue_of(want w) noexcept {
    return w == want::either ? either_ : w == want::full ? full_ : empty_;
  }

  base::spin_lock lock_;
  base::atomic<state> state_;
  state last_;  // before it was in use
  wait_queue either_;
  wait_queue full_;
  wait_queue empty_;
};

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/wait_queue.hpp>

// The state of a variable that is full or empty, and the tasks that wait for a state. An operation
// acquires the variable in the state it wants, uses the value, and releases the variable in the
// state it leaves. No lock is held in between, because copying the value runs user code.
//
//              acquire(state)              release(state)
//   full / empty ─────────────▶ in use ─────────────────▶ full / empty, or in use by the next
//
//   state_   written by the holder of lock_; also read without it, to see whether to wait
//   last_    written by the holder of lock_; read by it, and by the task that uses the variable
//   queues   used by the holder of lock_
//
// Invariants
//   I1  Tasks that wait for the same state are served in the order in which they came.
//   I2  While the variable is full no task waits for full, and while it is empty none waits for
//       empty. A task waits for either state only while the variable is in use.
namespace apgas::inline v0::sync {

class full_empty {
 public:
  enum class state : unsigned char { empty, full, in_use };
  enum class want : unsigned char { empty, full, either };

  explicit full_empty(state begin) noexcept : state_(begin), last_(begin) {}
  full_empty(const full_empty&) = delete;
  full_empty& operator=(const full_empty&) = delete;

  // Waits until the variable has the state w, makes it in use, and returns the state it had.
  // `waits_for` is as for scheduler::suspend.
  // Context: task that may suspend; may resume on another worker.
  APGAS_API state acquire(const scheduler::wait_record& waits_for, want w) noexcept;

  // The same until `when` at the latest; returns nullopt if the variable did not have the state.
  // Throws: std::bad_alloc.
  APGAS_API std::optional<state> acquire_until(const scheduler::wait_record& waits_for, want w,
                                               deadline when);

  // Gives the variable the state `left`, or hands it to the next task that waits for that state.
  // Requires: the calling task has acquired it. Context: task.
  APGAS_API void release(state left) noexcept;

  // Returns whether the variable is full; while it is in use, whether it was before. Context: any
  // thread.
  APGAS_API bool is_full() noexcept;

  // Returns whether a task has acquired the variable or waits for it. Context: any thread.
  bool is_used() noexcept;

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
  state last_;  // the state before the variable was in use
  wait_queue either_;
  wait_queue full_;
  wait_queue empty_;
};

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/full_empty.hpp>

#include <mutex>

#include <apgas/sync/timed_wait.hpp>

namespace apgas::inline v0::sync {

bool full_empty::take(want w) noexcept {
  if (!is_wanted(w)) return false;
  last_ = state_.load(base::relaxed);
  state_.store(state::in_use, base::relaxed);
  return true;
}

full_empty::state full_empty::acquire(const scheduler::wait_record& waits_for, want w) noexcept {
  if (is_wanted(w)) {
    std::lock_guard hold(lock_);
    if (take(w)) return last_;
  }
  queue_unless(waits_for, lock_, queue_of(w), [this, w] { return take(w); });
  return last_;  // no other task changes it before release()
}

std::optional<full_empty::state> full_empty::acquire_until(const scheduler::wait_record& waits_for,
                                                           want w, deadline when) {
  if (!queue_until(waits_for, lock_, queue_of(w), when, [this, w] { return take(w); }))
    return std::nullopt;
  return last_;
}

void full_empty::release(state left) noexcept {
  queued_task* next = nullptr;
  {
    std::lock_guard hold(lock_);
    last_ = left;
    next = either_.pop();
    if (next == nullptr) next = (left == state::full ? full_ : empty_).pop();
    if (next == nullptr) state_.store(left, base::relaxed);
  }
  if (next != nullptr) scheduler::resume(next->task);
}

bool full_empty::is_full() noexcept {
  std::lock_guard hold(lock_);
  return last_ == state::full;
}

bool full_empty::is_used() noexcept {
  std::lock_guard hold(lock_);
  return state_.load(base::relaxed) == state::in_use || !either_.empty() || !full_.empty() ||
         !empty_.empty();
}

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/timed_wait.hpp>

namespace apgas::inline v0::sync {

wait_timer::wait_timer(base::spin_lock& lock, bool (*withdraw)(void*) noexcept,
                       void* entry) noexcept
    : lock_(lock), withdraw_(withdraw), entry_(entry) {
  run = [](scheduler::external_task* timer,
           scheduler::fiber&) noexcept -> scheduler::task_counter* {
    static_cast<wait_timer*>(timer)->expire();
    return nullptr;
  };
}

void wait_timer::start(deadline when) {
  home_ = scheduler::current_fiber()->on->home;
  when_ = when;
  home_->submit_at(when, this);
}

bool wait_timer::end(const scheduler::wait_record& waits_for) noexcept {
  if (state_ == state::expired) return false;
  if (!home_->cancel_at(when_, this)) gone_.wait(waits_for);
  return true;
}

void wait_timer::expire() noexcept {
  scheduler::fiber* timed_out = nullptr;
  bool served = false;
  base::spin_lock& lock = lock_;  // the object may be gone once the lock is free
  lock.lock();
  if (state_ == state::starting) {
    state_ = state::expired;  // enter() will see it
  } else if (state_ == state::listed && withdraw_(entry_)) {
    state_ = state::expired;
    timed_out = task_;
  } else {
    served = true;
  }
  lock.unlock();
  if (timed_out != nullptr) scheduler::resume(timed_out);
  if (served) gone_.signal();
}

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/phase_event.hpp>

#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {

sync::phase_event clock::advance_awaitable(scheduler::call_site where) const noexcept {
  return {id_, where};
}

namespace sync {

bool phase_event::ready() {
  scheduler::fiber& self = suspendable_fiber("clock::advance_awaitable");
  registration& r = registration_of(self, id_, phase_kind::clock, "clock::advance_awaitable");
  registration_ = &r;
  signal(self, r);
  return r.node->passed(r.waited);
}

bool phase_event::notify(coroutine_runner& waiting) noexcept {
  runner_ = &waiting;
  return registration_->node->observe(*this, registration_->waited);
}

scheduler::wait_record phase_event::waits() const noexcept {
  return {"a phase of a clock", &registration_->node->core(), where_};
}

void phase_event::result() {
  wait(*scheduler::current_fiber(), *registration_, wait_style::lazy, {});
}

}  // namespace sync
}  // namespace apgas::inline v0

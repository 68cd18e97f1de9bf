// SPDX-License-Identifier: Apache-2.0
#include <apgas/clock.hpp>

#include <apgas/sync/place_state.hpp>

#include "phase_errors.hpp"
#include "switch_to_next.hpp"

namespace apgas::inline v0 {

using sync::phase_kind;
using sync::wait_style;

namespace {

[[gnu::always_inline]] inline sync::registration& mine(const scheduler::fiber& self,
                                                       const sync::phase_id& id,
                                                       const char* operation) {
  return sync::registration_of(self, id, phase_kind::clock, operation);
}

}  // namespace

clock clock::make(scheduler::call_site where) {
  scheduler::fiber& self = sync::suspendable_fiber("clock::make");
  const sync::registration& r =
      sync::make_registration(self, phase_kind::clock, phaser_mode::signal_wait, 1, 1, where);
  return clock({.home = sync::place_of(self).here, .number = r.number});
}

void clock::resume() const {
  scheduler::fiber& self = sync::task_fiber("clock::resume");
  sync::signal(self, mine(self, id_, "clock::resume"));
}

namespace {

[[gnu::noinline]] void advance_all_slowly(scheduler::call_site where) {
  sync::advance_all(sync::suspendable_fiber("clock::advance_all"), phase_kind::clock,
                    wait_style::lazy, where);
}

[[gnu::noinline]] void advance_slowly(const sync::phase_id& id, scheduler::call_site where) {
  scheduler::fiber& self = sync::suspendable_fiber("clock::advance");
  sync::advance(self, mine(self, id, "clock::advance"), wait_style::lazy, where);
}

}  // namespace

void clock::advance_lazy(scheduler::call_site where) const {
  sync::switch_first_or(where, id_.number,
                        [this](scheduler::call_site w) { advance_slowly(id_, w); });
}

void clock::advance_all_lazy(scheduler::call_site where) {
  sync::switch_only_or(where, phase_kind::clock, advance_all_slowly);
}

void clock::advance_eager(scheduler::call_site where) const {
  scheduler::fiber& self = sync::suspendable_fiber("clock::advance_eager");
  sync::advance(self, mine(self, id_, "clock::advance_eager"), wait_style::eager, where);
}

void clock::drop() const {
  scheduler::fiber& self = sync::task_fiber("clock::drop");
  sync::drop(self, mine(self, id_, "clock::drop"));
}

bool clock::registered() const {
  const auto* all = sync::registrations::of(sync::task_fiber("clock::registered"));
  return all != nullptr && all->find(id_.number) != nullptr;
}

std::int64_t clock::phase() const {
  return mine(sync::task_fiber("clock::phase"), id_, "clock::phase").phase();
}

void clock::resume_all() {
  sync::signal_all(sync::task_fiber("clock::resume_all"), phase_kind::clock);
}

void clock::advance_all_eager(scheduler::call_site where) {
  sync::advance_all(sync::suspendable_fiber("clock::advance_all_eager"), phase_kind::clock,
                    wait_style::eager, where);
}

sync::registration& clock_access::implicit(const scheduler::fiber& self, const char* operation) {
  if (const auto* all = sync::registrations::of(self)) {
    for (sync::registration* r = all->first(); r != nullptr; r = r->next) {
      if (r->implicit) return *r;  // the newest is that of the innermost clocked_finish
    }
  }
  sync::throw_no_implicit_clock(operation);
}

void clock_access::make_implicit(const scheduler::call_site& where) {
  scheduler::fiber& self = *scheduler::current_fiber();
  sync::make_registration(self, phase_kind::clock, phaser_mode::signal_wait, 1, 1, where).implicit =
      true;
}

}  // namespace apgas::inline v0

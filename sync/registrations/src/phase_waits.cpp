// SPDX-License-Identifier: Apache-2.0
#include "phase_waits.hpp"

// What the watchdog learns of clocks and phasers: which tasks wait for a phase, and which tasks
// have not signalled it.
namespace apgas::inline v0::sync {

scheduler::wait_record record_of(const registration& r) noexcept {
  const char* const construct =
      r.kind == phase_kind::clock ? "a phase of a clock" : "a phase of a phaser";
  return {construct, &r.node->core(), r.where};
}

void registrations::explain(const scheduler::fiber& self, scheduler::wait_explainer& to) const {
  for (const registration* r = first_; r != nullptr; r = r->next) {
    const phase_core& core = r->node->core();
    const std::int64_t phase = core.phase();
    if (!r->signals() || r->signalled > phase) continue;
    to.needs({.address = &core,
              .kind = r->kind == phase_kind::clock ? "clock" : "phaser",
              .made = core.made(),
              .phase = phase},
             self, "is registered on it and has not arrived");
  }
}

// A task that waits in a batch has signalled, and waits for the phase that it has just signalled.
// `waited` counts that phase already (note_and_switch).
scheduler::wait_record registrations::waits_for() const {
  for (const registration* r = first_; r != nullptr; r = r->next) {
    if (r->signals() && r->waits() && r->where.line() != 0 &&
        r->signalled > r->node->core().phase())
      return record_of(*r);
  }
  return {nullptr};
}

}  // namespace apgas::inline v0::sync

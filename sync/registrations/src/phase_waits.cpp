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

namespace {

// How a report names a mode, and a task of that mode which has not signalled.
struct mode_texts {
  const char* name;
  const char* unarrived;
};

mode_texts texts_of(const registration& r) noexcept {
  if (r.kind == phase_kind::clock) return {"", "is registered on it and has not arrived"};
  switch (r.mode) {
    case phaser_mode::signal_wait_next:
      return {"signal_wait_next", "is registered on it as signal_wait_next and has not arrived"};
    case phaser_mode::signal_wait:
      return {"signal_wait", "is registered on it as signal_wait and has not arrived"};
    case phaser_mode::signal:
      return {"signal", "is registered on it as signal and has not arrived"};
    case phaser_mode::wait:
      break;
  }
  return {"wait", ""};  // no task waits for it
}

}  // namespace

void registrations::explain(const scheduler::fiber& self, scheduler::wait_explainer& to) const {
  for (const registration* r = first_; r != nullptr; r = r->next) {
    if (r->away) continue;  // the task that it is with may have ended the phases of the node
    phase_core& core = r->node->core();
    const std::int64_t phase = core.phase();
    const scheduler::waited_object object{.address = &core,
                                          .kind = r->kind == phase_kind::clock ? "clock" : "phaser",
                                          .made = core.made(),
                                          .phase = phase};
    const mode_texts mode = texts_of(*r);
    to.describe(object, mode.name, r->waited);
    if (!r->signals() || r->signalled > phase) continue;
    to.needs(object, self, mode.unarrived, scheduler::releaser::this_task);
    // A leaf may be a phase behind its core for a moment; then its tasks are being resumed. Once it
    // is not, it waits for this task.
    if (r->node->phase() < r->signalled || !to.wants_parked(&core)) continue;
    for (std::size_t i = 0; i < core.leaves(); ++i) {
      if (core.leaf(i).phase() < r->signalled) continue;
      for (scheduler::fiber* const f : core.leaf(i).parked_tasks()) to.parked(*f);
    }
  }
}

// A task that waits in a batch has signalled, and waits for the phase that it has just signalled.
// `waited` counts that phase already (note_and_switch).
scheduler::wait_record registrations::waits_for() const {
  for (const registration* r = first_; r != nullptr; r = r->next) {
    if (!r->away && r->signals() && r->waits() && r->where.line() != 0 &&
        r->signalled > r->node->core().phase())
      return record_of(*r);
  }
  return {nullptr};
}

}  // namespace apgas::inline v0::sync

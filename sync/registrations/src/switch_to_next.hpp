// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/registration.hpp>

// The fast path of advance. The functions are inlined into their callers, so that a switch touches
// few cache lines of each stack.
namespace apgas::inline v0::sync {

// Records in the batched arrivals that the task waits, and switches to `to`.
[[gnu::always_inline]] inline void note_and_switch(scheduler::fiber& self, registration& r,
                                                   scheduler::fiber& to,
                                                   const scheduler::call_site& where) {
  scheduler::batch_block& waiting = *self.on->arrivals.waiting;
  waiting.at[waiting.size++] = {.task = &self,
                                .stack = reinterpret_cast<const void*>(scheduler::stack_pointer())};
  r.where = where;
  r.signalled = ++r.waited;
  scheduler::switch_fast(self, to);
}

// Switches to the next task of the batch if it suffices to batch the arrival of this one: the
// worker has another task of the same batch, which has not signalled either. Requires: the task
// signals and waits, and has not signalled.
[[gnu::always_inline]] inline bool switch_to_next(scheduler::fiber& self, registration& r,
                                                  const scheduler::call_site& where) {
  scheduler::worker& w = *self.on;
  if (w.arrivals.of != r.node || r.credit != 0 || !scheduler::may_switch_fast(self)) return false;
  scheduler::fiber* const next = scheduler::next_of_batch_fast(w);
  if (next == nullptr) return false;
  note_and_switch(self, r, *next, where);
  return true;
}

// Does the same among tasks that have just been spawned: the worker's next task has not started,
// and the tree node waits for its signal.
[[gnu::always_inline]] inline bool switch_to_start(scheduler::fiber& self, registration& r,
                                                   const scheduler::call_site& where) {
  scheduler::worker& w = *self.on;
  if (r.credit != 0 || !w.batch.empty() || !scheduler::starts_next(w, r.node)) return false;
  if (!scheduler::needs_no_saving(self) || !scheduler::prepare_arrivals(w, r.node)) return false;
  note_and_switch(self, r, scheduler::cached_fiber_to_switch_to(w), where);
  return true;
}

// The common case of clock::advance, phaser::next and clock::advance_all, with as few calls as
// possible. The wanted clock or phaser is the first that the task is registered on (or the only
// one, and of the wanted kind), and the worker has another task of the same batch, or one to start.
// Returns false if this is not the case and nothing was done.
template <class Wanted>
[[gnu::always_inline]] inline bool switch_if(Wanted wanted, const scheduler::call_site& where) {
  if (!scheduler::on_fiber()) [[unlikely]]
    return false;
  scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  const registrations* const all = registrations::of(self);
  if (self.task.rare.atomic_depth != 0 || all == nullptr) [[unlikely]]
    return false;
  registration* const r = all->first();
  if (r == nullptr || !wanted(*r) || !r->signals() || !r->waits() || r->in_single ||
      r->has_signalled()) [[unlikely]]
    return false;
  return switch_to_next(self, *r, where) || switch_to_start(self, *r, where);
}
[[gnu::always_inline]] inline bool switch_if_first(std::uint64_t number,
                                                   const scheduler::call_site& where) {
  return switch_if([number](const registration& r) { return r.number == number; }, where);
}
[[gnu::always_inline]] inline bool switch_if_only(phase_kind kind,
                                                  const scheduler::call_site& where) {
  return switch_if([kind](const registration& r) { return r.next == nullptr && r.kind == kind; },
                   where);
}

}  // namespace apgas::inline v0::sync

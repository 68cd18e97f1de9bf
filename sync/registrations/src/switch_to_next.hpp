// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/registration.hpp>

// The fast path of advance. The functions are inlined into their callers, so that a switch touches
// few cache lines of each stack.
namespace apgas::inline v0::sync {

// Records in the batched arrivals that the task waits, and switches to `to`.
[[gnu::always_inline]] inline void note_and_switch(scheduler::fiber& self, registration& r,
                                                   scheduler::fiber& to) {
  scheduler::batch_block& waiting = *self.on->arrivals.waiting;
  waiting.at[waiting.size++] = {.task = &self,
                                .stack = reinterpret_cast<const void*>(scheduler::stack_pointer())};
  r.signalled = ++r.waited;
  scheduler::switch_fast(self, to);
}

// Switches to the next task of the batch if it suffices to batch the arrival of this one: the
// worker has another task of the same batch, which has not signalled either. Requires: the task
// signals and waits, and has not signalled.
// `take` is next_of_batch_fast, or next_of_batch, which also takes a task for which the batch must
// be locked because a thief has asked.
template <class Take>
[[gnu::always_inline]] inline bool switch_to_next(scheduler::fiber& self, registration& r,
                                                  Take take) {
  scheduler::worker& w = *self.on;
  if (w.arrivals.of != r.node || r.credit != 0 || !scheduler::may_switch_fast(self)) return false;
  scheduler::fiber* const next = take(w);
  if (next == nullptr) return false;
  note_and_switch(self, r, *next);
  return true;
}

// Does the same among tasks that have just been spawned: the worker's next task has not started,
// and the tree node waits for its signal.
[[gnu::always_inline]] inline bool switch_to_start(scheduler::fiber& self, registration& r) {
  scheduler::worker& w = *self.on;
  if (r.credit != 0 || !w.batch.empty() || !scheduler::starts_next(w, r.node)) return false;
  if (!scheduler::needs_no_saving(self) || !scheduler::prepare_arrivals(w, r.node)) return false;
  note_and_switch(self, r, scheduler::cached_fiber_to_switch_to(w));
  return true;
}

// The common case of clock::advance, phaser::next and clock::advance_all, with as few calls as
// possible. The wanted clock or phaser is the first that the task is registered on (or the only
// one, and of the wanted kind), and the worker has another task of the same batch, or one to start.
// If this is not the case, calls slowly(where) after having done nothing. `where` is not used after
// the first calls, so that it needs no register that must be saved.
template <class Wanted, class Slowly>
[[gnu::always_inline]] inline void switch_or(scheduler::call_site where, Wanted wanted,
                                             Slowly slowly) {
  if (!scheduler::on_fiber()) [[unlikely]]
    return slowly(where);
  scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  const registrations* const all = registrations::of(self);
  if (self.task.rare.atomic_depth != 0 || all == nullptr) [[unlikely]]
    return slowly(where);
  registration* const r = all->first();
  if (r == nullptr || !wanted(*r) || !r->signals() || !r->waits() || r->in_single ||
      r->has_signalled()) [[unlikely]]
    return slowly(where);
  r->where = where;
  const auto take = [](scheduler::worker& w) { return scheduler::next_of_batch_fast(w); };
  if (!switch_to_next(self, *r, take) && !switch_to_start(self, *r)) slowly(r->where);
}
template <class Slowly>
[[gnu::always_inline]] inline void switch_first_or(scheduler::call_site where, std::uint64_t number,
                                                   Slowly slowly) {
  switch_or(where, [number](const registration& r) { return r.number == number; }, slowly);
}
template <class Slowly>
[[gnu::always_inline]] inline void switch_only_or(scheduler::call_site where, phase_kind kind,
                                                  Slowly slowly) {
  switch_or(
      where, [kind](const registration& r) { return r.next == nullptr && r.kind == kind; }, slowly);
}

}  // namespace apgas::inline v0::sync

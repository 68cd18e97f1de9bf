// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/sync/registration.hpp>

// The usual advance, inline where it is used, so that few cache lines of each stack are touched.
namespace apgas::inline v0::sync {

// Whether it is enough to note that the task waits: its worker has another task of the same batch,
// which has not signalled either. Requires: the task signals and waits, and has not signalled.
[[gnu::always_inline]] inline bool pass_to_next(scheduler::fiber& self, registration& r) {
  scheduler::worker& w = *self.on;
  phase_node& node = *r.node;
  if (w.tally.of != &node || r.credit != 0 || !scheduler::may_pass(self)) return false;
  scheduler::fiber* const next = scheduler::next_of_batch_fast(w);
  if (next == nullptr) return false;
  scheduler::batch_block& waiting = *w.tally.waiting;
  waiting.at[waiting.size++].task = &self;
  r.signalled = ++r.waited;
  scheduler::pass(self, *next);
  return true;
}

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include <apgas/base/cpu_relax.hpp>
#include <apgas/scheduler/poll_in_place.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/registration.hpp>

#include "phase_errors.hpp"
#include "phase_waits.hpp"
#include "switch_to_next.hpp"

// What a task does with a clock or phaser it is registered on. docs/walks/life_of_a_clock_phase.md
// describes the steps.
namespace apgas::inline v0::sync {
namespace {

// How long an eager wait spins. This is long enough for the other tasks to finish a phase of a few
// thousand instructions; an idle worker searches for work longer than that.
constexpr int eager_spins = 2'000;

constexpr std::uint32_t phases_between_looks = 32;

// Everything that the task signals for its phase: its own signal, and the deregistration of
// children registered in advance but not spawned.
phaser_tree_node::events signal_events(registration& r) noexcept {
  const std::int64_t credit = std::exchange(r.credit, 0);
  r.last_credit = 0;
  ++r.signalled;
  return {.signals = 1, .leave = credit, .gone = credit};
}

bool nothing_else_ready(const scheduler::worker& w) noexcept {
  return w.tasks.empty() && w.ready.empty() && w.batch.empty();
}

bool spin_for(const scheduler::fiber& self, const phaser_tree_node& node, std::int64_t p) noexcept {
  const scheduler::worker& w = *self.on;
  // In an observed run the task suspends, so that its wait is seen.
  if (w.home->num_workers() == 1 || w.observer.get() != nullptr) return node.passed(p);
  for (int i = 0; i < eager_spins && nothing_else_ready(w); ++i) {
    if (node.passed(p)) return true;
    base::cpu_relax();
  }
  return node.passed(p);
}

void park(scheduler::fiber& self, registration& r, std::int64_t p,
          const phaser_tree_node::events& e, const scheduler::call_site& where) {
  phaser_tree_node& node = *r.node;
  r.where = where;
  scheduler::reserve_block(*self.on);
  struct parking {
    phaser_tree_node* node;
    std::int64_t p;
    phaser_tree_node::events e;
  } how{&node, p, e};
  const auto after = [](scheduler::fiber* f, void* argument) {
    const parking a = *static_cast<parking*>(argument);
    a.node->update_and_park(*f->on, f, a.p, a.e);
  };
  // If the task has yet to signal, its own arrival and the batched ones need one lock together.
  if (e.signals != 0 && self.on->arrivals.of == &node) {
    scheduler::leave_with_arrivals(self, record_of(r), after, &how);
  } else {
    scheduler::leave(self, record_of(r), after, &how);
  }
}

// Waits until phase p is over. The task has already signalled it, or only waits.
void await(scheduler::fiber& self, registration& r, std::int64_t p, wait_style style,
           const scheduler::call_site& where) {
  phaser_tree_node& node = *r.node;
  const auto is_over = [&node, p] { return node.passed(p); };
  // The messages of a clock are taken where they arrive.
  const bool over_places = r.kind == phase_kind::clock && node.core().link() != nullptr;
  if (over_places) static_cast<void>(scheduler::wait_in_place(is_over));
  if (!is_over() && (style == wait_style::lazy || !spin_for(self, node, p))) {
    park(self, r, p, {}, where);
    return;
  }
  // The task goes on without leaving its worker. Many such phases in a row would starve everything
  // else on this worker.
  if (++self.on->phases_in_a_row % phases_between_looks == 0) scheduler::yield_to_loop();
}

void signal_and_wait(scheduler::fiber& self, registration& r, wait_style style,
                     const scheduler::call_site& where) {
  scheduler::worker& w = *self.on;
  const std::int64_t p = r.waited;
  if (r.credit == 0 && w.arrivals.of != r.node) move_to_leaf_of(w, r);
  // An allocation that may fail comes before the task signals.
  scheduler::reserve_block(w);
  phaser_tree_node& node = *r.node;
  const phaser_tree_node::events e = signal_events(r);
  std::int64_t signals = 1 + e.leave;
  if (w.arrivals.of == &node)
    signals += static_cast<std::int64_t>(w.arrivals.waiting->size) + w.arrivals.ends;
  // The operations of accumulators must run in the task, not while its fiber is being suspended.
  if (style == wait_style::lazy && node.core().has_only_tasks() && !node.completed_by(signals)) {
    park(self, r, p, e, where);
    return;
  }
  node.update(w, p, e);
  await(self, r, p, style, where);
}

}  // namespace

void signal(scheduler::fiber& self, registration& r) {
  if (r.has_signalled()) return;
  const std::int64_t p = r.signalled;
  const phaser_tree_node::events e = signal_events(r);
  r.node->update(*self.on, p, e);
}

void wait(scheduler::fiber& self, registration& r, wait_style style,
          const scheduler::call_site& where) {
  if (r.signals() && !r.has_signalled()) return advance(self, r, style, where);
  phaser_tree_node& node = *r.node;
  await(self, r, r.waited, style, where);
  if (!r.signals()) node.core().waiter_moved(r.waited, r.waited + 1);
  ++r.waited;
}

void advance(scheduler::fiber& self, registration& r, wait_style style,
             const scheduler::call_site& where) {
  if (r.has_signalled()) return wait(self, r, style, where);
  r.where = where;
  // A worker that answers a thief goes on with its batch. To leave the task instead would take the
  // lock of the tree node, and with many thieves it is the lock that all wait for.
  const auto take = [](scheduler::worker& w) {
    scheduler::fiber* const next = scheduler::next_of_batch_fast(w);
    return next != nullptr || w.batch.empty() ? next : scheduler::next_of_batch(w);
  };
  if (switch_to_next(self, r, take) || switch_to_start(self, r)) return;
  signal_and_wait(self, r, style, where);
  ++r.waited;
}

void advance_single(scheduler::fiber& self, registration& r, void (*run)(void*), void* closure,
                    const scheduler::call_site& where) {
  phase_core& core = r.node->core();
  elected_task me;
  if (r.has_signalled() || !core.elect(me)) return advance(self, r, wait_style::lazy, where);
  signal(self, r);
  if (!me.wait(where)) {
    ++r.waited;
    return;
  }
  std::exception_ptr error;
  r.in_single = true;
  try {
    run(closure);
  } catch (...) {
    error = std::current_exception();
  }
  r.in_single = false;
  scheduler::fiber& now = *scheduler::current_fiber();
  scheduler::flush_arrivals(*now.on);
  core.single_done(*now.on);
  await(now, r, r.waited, wait_style::lazy, where);  // at a replica the phase is not over yet
  ++r.waited;
  if (error != nullptr) std::rethrow_exception(error);
}

void drop(scheduler::fiber& self, registration& r) noexcept {
  registrations::of(self)->remove(r);
  phaser_tree_node& node = *r.node;
  if (!r.signals()) node.core().waiter_moved(r.waited, -1);
  const std::int64_t signallers = r.signals() ? 1 + r.credit : 0;
  const phaser_tree_node::events e{.leave = signallers, .gone = 1 + r.credit};
  const std::int64_t s = r.signalled;
  scheduler::worker& w = *self.on;
  if (r.made_here) delete &r;
  node.update(w, s, e);
}

void drop_at_end(scheduler::fiber& self, registration& r) noexcept {
  scheduler::worker& w = *self.on;
  phaser_tree_node& node = *r.node;
  // The end of the task is only batched if the worker continues with the next task of the batch,
  // nothing of this task is left, and no other frame waits below it on this stack.
  const bool goes_on = !w.batch.empty() || scheduler::starts_next(w, &node);
  const bool noted = w.arrivals.of == &node && goes_on && r.signals() && r.waits() &&
                     !r.has_signalled() && r.credit == 0 && self.task.finish == self.outermost &&
                     w.tasks.head() == self.base;
  if (!noted) return drop(self, r);
  registrations::of(self)->remove(r);
  if (r.made_here) delete &r;
  ++w.arrivals.ends;
}

void signal_all(scheduler::fiber& self, phase_kind kind) {
  const registrations* const all = registrations::of(self);
  if (all == nullptr) return;
  for (registration* r = all->first(); r != nullptr; r = r->next) {
    if (r->kind == kind && r->signals()) signal(self, *r);
  }
}

void advance_all(scheduler::fiber& self, phase_kind kind, wait_style style,
                 const scheduler::call_site& where) {
  const registrations* const all = registrations::of(self);
  if (all == nullptr) return;
  registration* const only = all->first();
  if (only != nullptr && only->next == nullptr && only->kind == kind && only->signals() &&
      only->waits() && !only->in_single) {
    return advance(self, *only, style, where);
  }
  for (const registration* r = all->first(); r != nullptr; r = r->next) {
    if (r->kind == kind) check_not_in_single(*r, "next");
  }
  signal_all(self, kind);
  for (registration* r = all->first(); r != nullptr; r = r->next) {
    if (r->kind == kind && r->waits()) wait(self, *r, style, where);
  }
}

}  // namespace apgas::inline v0::sync

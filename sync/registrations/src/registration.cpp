// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/registration.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/place_state.hpp>

#include "phase_errors.hpp"

// Registrations: how records are made, passed on to children, and dropped.
namespace apgas::inline v0::sync {
namespace {

constexpr int most_credit = 64;

struct core_release {
  void operator()(phase_core* c) const noexcept { c->release(); }
};

// The list of a task that was not spawned with registrations but made a clock or phaser.
class own_registrations final : public registrations {
 public:
  own_registrations() noexcept : registrations(true) {}
};

}  // namespace

// The task does not move to a leaf that has not advanced to the task's phase yet: that phase
// advance would end a wait that begins after it.
void move_to_leaf_of(scheduler::worker& w, registration& r) {
  const phase_core& core = r.node->core();
  if (!core.is_tree()) return;
  phaser_tree_node& leaf = core.leaf_of(w);
  if (&leaf == r.node || (r.waits() && leaf.phase() < r.waited)) return;
  leaf.join(r.signals() ? r.signalled : -1, 1);
  phaser_tree_node& old = *std::exchange(r.node, &leaf);
  old.update(w, r.signalled, {.leave = r.signals() ? 1 : 0, .gone = 1});
}

void transit::open(registration& r) const noexcept {
  r.node = node_;
  r.number = node_->core().number();
  r.kind = node_->core().kind();
  open(bits_, r);
}

void transit::open(std::uint64_t bits, registration& r) noexcept {
  r.mode = static_cast<phaser_mode>(bits & 3U);
  r.implicit = (bits & 4U) != 0;
  r.waited = static_cast<std::int64_t>(bits >> 4);
  r.signalled = r.waited + ((bits & 8U) != 0 ? 1 : 0);
}

registrations& registrations::needed(scheduler::fiber& self) {
  if (self.task.registrations == nullptr) {
    self.task.registrations = new own_registrations;
    self.task.rare.has_attributes |= scheduler::is_described;
  }
  return *of(self);
}

void registrations::remove(registration& r) noexcept {
  registration** at = &first_;
  while (*at != &r) at = &(*at)->next;
  *at = r.next;
}

void registrations::task_ended(scheduler::fiber& self) noexcept {
  while (first_ != nullptr) drop_at_end(self, *first_);
  if (on_heap_) delete static_cast<own_registrations*>(this);
}

void registrations::leave_finish(scheduler::fiber& self,
                                 const scheduler::task_counter& finish) noexcept {
  registrations* const all = of(self);
  if (all == nullptr) return;
  for (registration* r = all->first_; r != nullptr;) {
    registration* const next = r->next;
    if (r->finish == &finish && r->made_here) drop(self, *r);
    r = next;
  }
}

registration& make_registration(scheduler::fiber& self, phase_kind kind, phaser_mode mode,
                                int tiers, int degree, const scheduler::call_site& where) {
  auto r = std::make_unique<registration>();
  registrations& all = registrations::needed(self);
  phase_core& core =
      phase_core::make(kind, place_of(self).here, self.on->home->num_workers(), tiers, degree);
  core.made_at(where);
  const std::unique_ptr<phase_core, core_release> held(&core);
  r->node = &core.leaf_of(*self.on);
  r->number = core.number();
  r->kind = core.kind();
  r->mode = mode;
  r->finish = self.task.finish;
  r->made_here = true;
  if (!r->signals()) {
    core.waiter_moved(-1, 0);
    core.never_signalled();
  }
  r->node->join(r->signals() ? 0 : -1, 1);
  all.add(*r);
  return *r.release();
}

transit begin_transit(scheduler::fiber& self, registration& r, phaser_mode mode,
                      const char* operation) {
  check_may_give(r, self, mode, operation);
  const bool signals = mode != phaser_mode::wait;
  if (!signals) {
    r.node->core().waiter_moved(-1, r.waited);
    r.node->join(-1, 1);
  } else {
    if (r.credit == 0) {
      const int n = std::clamp(r.last_credit * 2, 1, most_credit);
      if (!r.has_signalled()) r.node->core().grow_if_crowded(r.node->unarrived());
      r.node->join(r.signalled, n);
      r.credit = n;
      r.last_credit = static_cast<std::uint8_t>(n);
    }
    --r.credit;
  }
  const bool waits = mode != phaser_mode::signal;
  return {*r.node, waits ? r.waited : r.signalled, mode, signals && waits && r.has_signalled(),
          r.implicit};
}

void cancel_transit(scheduler::fiber& self, const transit& t) noexcept {
  registration r;
  t.open(r);
  if (!r.signals()) r.node->core().waiter_moved(r.waited, -1);
  r.node->update(*self.on, r.signalled, {.leave = r.signals() ? 1 : 0, .gone = 1});
}

registered_body::registered_body(scheduler::fiber& self, std::span<const transit> transits,
                                 std::span<registration> storage) noexcept
    : registrations(false) {
  for (std::size_t i = 0; i < transits.size(); ++i) {
    registration& r = storage[i];
    transits[i].open(r);
    r.finish = self.task.finish;
    move_to_leaf_of(*self.on, r);
    add(r);
  }
  self.task.registrations = this;
  self.task.rare.has_attributes |= scheduler::is_described;
}

registered_body::~registered_body() {
  scheduler::fiber& self = *scheduler::current_fiber();
  task_ended(self);
  self.task.registrations = nullptr;
  name_task(self.task.name);
}

}  // namespace apgas::inline v0::sync

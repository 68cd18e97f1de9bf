// SPDX-License-Identifier: Apache-2.0
#include <apgas/phaser.hpp>

#include <cmath>
#include <cstdint>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/place_state.hpp>

#include "phase_errors.hpp"
#include "switch_to_next.hpp"

namespace apgas::inline v0 {

using sync::phase_kind;
using sync::wait_style;

namespace {

constexpr int most_tiers = 8;
constexpr std::int64_t most_leaves = 4096;

struct shape {
  int tiers;
  int degree;
};

shape shape_for(int workers, int tiers, int degree) {
  if (tiers == phaser::automatic) {
    const int fan = degree == phaser::automatic ? sync::flat_up_to_workers : degree;
    tiers = workers > fan ? 2 : 1;
  }
  if (tiers < 1 || tiers > most_tiers) sync::throw_bad_tree("tiers", tiers, most_tiers);
  if (degree == phaser::automatic) {
    const double leaves =
        std::max(2.0, std::ceil(workers / static_cast<double>(sync::workers_per_leaf)));
    degree =
        std::max(2, static_cast<int>(std::ceil(std::pow(leaves, 1.0 / std::max(1, tiers - 1)))));
  }
  std::int64_t leaves = 1;
  for (int t = 1; t < tiers; ++t) {
    leaves *= degree;
    if (degree < 1 || leaves > most_leaves) sync::throw_bad_tree("degree", degree, most_leaves);
  }
  if (degree < 1) sync::throw_bad_tree("degree", degree, most_leaves);
  return {tiers, degree};
}

sync::registration& my_registration(const scheduler::fiber& self, const sync::phase_id& id,
                                    const char* operation) {
  return sync::registration_of(self, id, phase_kind::phaser, operation);
}

}  // namespace

phaser::phaser(phaser_mode mode, int tiers, int degree, scheduler::call_site where) {
  scheduler::fiber& self = sync::suspendable_fiber("phaser");
  const shape s = shape_for(self.on->home->num_workers(), tiers, degree);
  const sync::registration& r =
      sync::make_registration(self, phase_kind::phaser, mode, s.tiers, s.degree, where);
  id_ = {.home = sync::place_of(self).here, .number = r.number};
}

namespace {

[[gnu::noinline]] void next_slowly(const sync::phase_id& id, scheduler::call_site where) {
  scheduler::fiber& self = sync::suspendable_fiber("phaser::next");
  sync::registration& r = my_registration(self, id, "phaser::next");
  sync::check_not_in_single(r, "phaser::next");
  if (!r.waits()) return sync::signal(self, r);
  if (!r.signals()) return sync::wait(self, r, wait_style::lazy, where);
  sync::advance(self, r, wait_style::lazy, where);
}

}  // namespace

void phaser::next(scheduler::call_site where) const {
  sync::switch_first_or(where, id_.number, [this](scheduler::call_site w) { next_slowly(id_, w); });
}

void phaser::next_single_erased(void (*run)(void*), void* closure,
                                const scheduler::call_site& where) const {
  scheduler::fiber& self = sync::suspendable_fiber("phaser::next_single");
  sync::registration& r = my_registration(self, id_, "phaser::next_single");
  sync::check_may_single(r, "phaser::next_single");
  sync::advance_single(self, r, run, closure, where);
}

void phaser::signal() const {
  scheduler::fiber& self = sync::task_fiber("phaser::signal");
  sync::registration& r = my_registration(self, id_, "phaser::signal");
  sync::check_may_signal(r, "phaser::signal");
  sync::signal(self, r);
}

void phaser::wait(scheduler::call_site where) const {
  scheduler::fiber& self = sync::suspendable_fiber("phaser::wait");
  sync::registration& r = my_registration(self, id_, "phaser::wait");
  sync::check_may_wait(r, "phaser::wait");
  sync::wait(self, r, wait_style::lazy, where);
}

void phaser::drop() const {
  scheduler::fiber& self = sync::task_fiber("phaser::drop");
  sync::registration& r = my_registration(self, id_, "phaser::drop");
  sync::check_not_in_single(r, "phaser::drop");
  sync::drop(self, r);
}

bool phaser::registered() const {
  const auto* all = sync::registrations::of(sync::task_fiber("phaser::registered"));
  return all != nullptr && all->find(id_.number) != nullptr;
}

std::int64_t phaser::phase() const {
  return my_registration(sync::task_fiber("phaser::phase"), id_, "phaser::phase").phase();
}

void next(scheduler::call_site where) {
  sync::advance_all(sync::suspendable_fiber("next"), phase_kind::phaser, wait_style::lazy, where);
}

}  // namespace apgas::inline v0

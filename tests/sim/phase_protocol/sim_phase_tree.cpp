// SPDX-License-Identifier: Apache-2.0
// The messages between tree nodes, and the phase advance: mirrors phase_core.cpp.
#include <utility>

#include "sim_phase_world.hpp"

namespace phase_sim {

void world::on_duty(duty d) {
  if (d.what == job::flush_arrivals) {
    batch& b = batches_[static_cast<std::size_t>(d.node)];
    node& n = lock(b.leaf);
    const bool was_unarrived = n.counter.unarrived() != 0;
    take_arrivals(n, b);
    if (!conclude(b.leaf, was_unarrived, true, d.then)) done(d);
  } else if (d.what == job::advance_phase) {
    advance_step(std::move(d));
  } else if (d.what == job::begin) {
    d.open = active_ == 0 && !broken(fault::never_opens);
    d.what = job::advance_phase;
    d.frames.push_back({root_});
    duties_.push_back(std::move(d));
  } else if (d.what == job::reopened) {
    if (!reopen(d.node) || lock(d.node).parent < 0) return done(d);
    d.node = lock(d.node).parent;
    duties_.push_back(std::move(d));
  } else if (d.node < 0) {
    on_root_complete(std::move(d));
  } else {
    node& n = lock(d.node);
    const bool told = n.counter.record(n.counter.phase(), 1, 0) == change::completed;
    const bool hasty = broken(fault::advances_before_the_root_is_complete) && n.parent < 0;
    if (!told && !hasty) return done(d);
    d.node = n.parent;
    duties_.push_back(std::move(d));
  }
}

// In the step in which leaf n was reopened: the product holds the locks from the leaf on.
void world::tell_reopened(int n) {
  for (int above = lock(n).parent; above >= 0 && reopen(above);) above = lock(above).parent;
}

// A child of tree node n has been reopened. Returns true if n thereby reopens.
bool world::reopen(int n) {
  tested_counter& c = lock(n).counter;
  if (access::at(c.machine(), c.phase() + 1) <= 0) ++counted_.crossings;
  if (c.rejoin() != change::reopened) return false;
  ++counted_.reopenings;
  return true;
}

void world::on_root_complete(duty d) {
  if (elected_ >= 0) {
    arrive(elected_);
    if (!broken(fault::single_does_not_hold)) return done(d);
  }
  d.what = job::begin;
  duties_.push_back(std::move(d));
}

// phase_core::advance_from, one step at a time.
void world::advance_step(duty d) {
  frame* f = &d.frames.back();
  node& n = lock(f->node);
  if (f->tell) {
    f->complete = n.counter.record(n.counter.phase(), 1, 0) == change::completed;
    f->tell = false;
  } else if (f->next < 0) {
    advance_locked(n);
    if (d.open) n.open = true;
    f->complete = n.counter.unarrived() == 0;
    f->next = 0;
  }
  bool complete = false;
  while (!d.frames.empty()) {
    f = &d.frames.back();
    const std::vector<int>& children = lock(f->node).children;
    if (f->tell || f->next < 0) break;  // left for the next step
    if (f->next < static_cast<int>(children.size())) {
      d.frames.push_back({children[static_cast<std::size_t>(f->next++)]});
      break;
    }
    complete = f->complete;
    d.frames.pop_back();
    if (d.frames.empty()) break;
    d.frames.back().tell = complete && !broken(fault::complete_leaf_is_not_told);
  }
  if (!d.frames.empty()) {
    duties_.push_back(std::move(d));
  } else if (complete && !d.open && !broken(fault::signals_ahead_do_not_advance)) {
    d.what = broken(fault::second_advance_ignores_single) ? job::begin : job::completed;
    d.node = -1;
    duties_.push_back(std::move(d));
  } else {
    done(d);
  }
}

void world::done(const duty& d) {
  release_core(d.release);
  if (d.then >= 0) go_on(d.then);
}

}  // namespace phase_sim

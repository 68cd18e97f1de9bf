// SPDX-License-Identifier: Apache-2.0
// The messages between tree nodes, and the phase advance: mirrors phase_core.cpp, one lock at a
// time.
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
    d.frames.push_back({0});
    duties_.push_back(std::move(d));
  } else if (d.what == job::reopened) {
    node& n = lock(d.node);
    if (access::at(n.counter.machine(), n.counter.phase() + 1) <= 0) ++counted_.crossings;
    if (n.counter.rejoin() != change::reopened || n.parent < 0) return done(d);
    ++counted_.reopenings;
    d.node = n.parent;
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
    const int first = nodes_[static_cast<std::size_t>(f->node)].first;
    if (f->tell || f->next < 0) break;  // left for the next step
    if (first != 0 && f->next < settings_.degree) {
      d.frames.push_back({first + f->next++});
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

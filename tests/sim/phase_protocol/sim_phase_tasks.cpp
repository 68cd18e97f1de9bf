// SPDX-License-Identifier: Apache-2.0
// What tasks do with their registration: mirrors phases.cpp and registration.cpp, one step at a
// time.
#include <algorithm>
#include <utility>

#include "sim_phase_world.hpp"

namespace phase_sim {

void world::run_task(int id) {
  task& t = at(id);
  switch (t.at) {
    case stage::start:
      return start(id);
    case stage::leave_old: {
      t.at = t.then;
      const int old = std::exchange(t.old_leaf, -1);
      return update(id, old, t.signalled, {.leave = t.signals() ? 1 : 0, .gone = 1});
    }
    case stage::join_late:
      t.at = t.then;
      static_cast<void>(join(t.leaf, t.signals() ? t.signalled : -1, 1));
      return ready(id);
    case stage::grow:
    case stage::publish:
    case stage::tie:
      return grow(id);
    case stage::arrive:
      return arrive_at_leaf(id);
    case stage::look:
      if (passed(t)) {
        release(id);
      } else {
        t.at = stage::park;
      }
      return ready(id);
    case stage::park:
      return park(id);
    case stage::closure:
      model_.single_runs(t.waited);
      t.at = stage::single_done;
      return ready(id);
    case stage::single_done:
      elected_ = -1;
      t.at = stage::after_single;
      duties_.push_back({job::begin, -1, id, 0, false, {}});
      return;
    default:
      return act(id);
  }
}

void world::start(int id) {
  at(id).at = stage::act;
  if (!move(id, stage::act)) act(id);
}

// Moves the task to the leaf of the worker that runs it, which may be any. The task stays where it
// is counted if it would otherwise wait for a phase that its new leaf has not reached. Returns
// whether it moves.
bool world::move(int id, stage then) {
  task& t = at(id);
  const int leaf = leaves_[choice_.below(static_cast<std::uint32_t>(leaves_.size()))];
  const bool behind = t.waits() && lock(leaf).counter.phase() < t.waited;
  if (leaf == t.leaf || (behind && !broken(fault::moves_to_a_leaf_behind))) {
    if (leaf != t.leaf) ++counted_.stays;
    return false;
  }
  t.then = then;
  ++counted_.moves;
  t.old_leaf = std::exchange(t.leaf, leaf);
  if (broken(fault::leaves_before_it_joins)) {
    t.at = stage::join_late;
    const int old = std::exchange(t.old_leaf, -1);
    update(id, old, t.signalled, {.leave = t.signals() ? 1 : 0, .gone = 1});
    return true;
  }
  t.at = stage::leave_old;
  const change c = join(leaf, t.signals() ? t.signalled : -1, 1);
  if (c == change::reopened && broken(fault::reopening_is_told_late)) {
    duties_.push_back({job::reopened, lock(leaf).parent, id, 0, false, {}});
    return true;
  }
  if (c == change::reopened && !broken(fault::reopening_is_not_told)) tell_reopened(leaf);
  ready(id);
  return true;
}

void world::act(int id) {
  task& t = at(id);
  const action a = script_.next({t.name, t.step++, t.mode, t.registered});
  if (a.what == op::end) return end(id);
  if (!t.registered) return ready(id);
  switch (a.what) {
    case op::spawn:
      return spawn(id, a);
    case op::drop:
      return drop(id);
    case op::resume:
      return t.signals() ? signal(id) : ready(id);
    case op::wait:
      return t.waits() ? wait(id) : ready(id);
    case op::next:
      return t.waits() ? wait(id) : signal(id);
    case op::single:
      return advance_single(id);
    default:
      return ready(id);
  }
}

void world::spawn(int id, const action& a) {
  task& t = at(id);
  if (is_crowded(t)) {
    t.spawning = a;
    t.at = stage::grow;
    return ready(id);
  }
  task child{a.name, a.mode, t.leaf};
  if (!child.signals()) {
    static_cast<void>(join(t.leaf, -1, 1));
  } else {
    if (t.credit == 0) {
      const int n = std::clamp(t.last_credit * 2, 1, 64);
      const change c = join(t.leaf, t.signalled, n);
      require(c == change::none, "a spawning task was not counted in its phase itself", id);
      t.credit = t.last_credit = n;
    }
    if (!broken(fault::credit_is_given_twice) || t.last_credit != 2) --t.credit;
  }
  child.waited = child.waits() ? t.waited : t.signalled;
  const bool signalled = child.signals() && child.waits() && t.has_signalled();
  child.signalled = child.waited + (signalled ? 1 : 0);
  if (broken(fault::child_of_signalled_is_unarrived)) child.signalled = child.waited;
  const int child_id = static_cast<int>(tasks_.size());
  model_.spawn(id, child_id, a.mode);
  tasks_.push_back(child);
  ++counted_.tasks;
  ready(child_id);
  ready(id);
}

// Everything that the task signals: its own signal, and the deregistration of children registered
// in advance.
world::events world::signal_events(task& t) {
  ++t.signalled;
  t.last_credit = 0;
  const int credit = std::exchange(t.credit, 0);
  if (broken(fault::credit_is_not_returned)) return {.signals = 1};
  return {.signals = 1, .leave = credit, .gone = credit};
}

void world::signal(int id) {
  task& t = at(id);
  model_.signal(id);
  if (t.has_signalled() && !broken(fault::second_signal_counts)) return ready(id);
  const std::int64_t p = t.signalled;
  update(id, t.leaf, p, signal_events(t));
}

void world::wait(int id) {
  task& t = at(id);
  if (t.signals() && !t.has_signalled()) return advance(id);
  t.at = stage::look;
  run_task(id);
}

void world::advance(int id) {
  task& t = at(id);
  if (may_note(t)) {
    model_.signal(id);
    ++t.signalled;
    t.at = stage::parked;
    t.noted = true;
    batch_of(t).waiting.push_back(id);
    return next_of_batch(id);
  }
  // One that does not run in a batch may have been suspended on a worker of another leaf.
  t.at = stage::arrive;
  const bool stays = t.credit != 0 && !broken(fault::moves_with_credit);
  if (t.batch >= 0 || stays || !move(id, stage::arrive)) arrive_at_leaf(id);
}

void world::arrive_at_leaf(int id) {
  task& t = at(id);
  model_.signal(id);
  const events e = signal_events(t);
  // The hint completed_by(), which may be wrong, says whether this signal completes the phase.
  if (choice_.below(2) == 0) {
    t.untold = e;
    t.at = stage::park;
    if (t.batch >= 0 && batch_of(t).noted()) {
      duties_.push_back({job::flush_arrivals, t.batch, id, 0, false, {}});
    } else {
      park(id);
    }
    return;
  }
  t.at = stage::look;
  update(id, t.leaf, t.waited, e);
}

void world::drop(int id) {
  task& t = at(id);
  model_.leave(id);
  t.registered = false;
  const int credit = std::exchange(t.credit, 0);
  const std::int64_t s =
      t.has_signalled() && broken(fault::early_drop_is_unarrived) ? t.waited : t.signalled;
  update(id, t.leaf, s, {.leave = t.signals() ? 1 + credit : 0, .gone = 1 + credit});
}

void world::end(int id) {
  task& t = at(id);
  t.at = stage::ended;
  if (!t.registered) return go_on(id);
  if (!may_note(t)) return drop(id);
  model_.leave(id);
  t.registered = false;
  ++batch_of(t).ends;
  next_of_batch(id);
}

}  // namespace phase_sim

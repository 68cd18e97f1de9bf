// SPDX-License-Identifier: Apache-2.0
// The steps of the simulator, and the tree nodes: mirrors phaser_tree_node.cpp.
#include <utility>

#include "sim_phase_world.hpp"

namespace phase_sim {

world::world(settings s, script& program, sim::choice& chooser)
    : settings_(s), script_(program), choice_(chooser), ends_in_steps_(s.between || s.tiers > 1) {
  nodes_.emplace_back(s.broken, -1);
  leaves_ = {0};
  for (int tier = 1; tier < s.tiers; ++tier) {
    for (const int parent : std::exchange(leaves_, {})) {
      for (int i = 0; i < s.degree; ++i) {
        leaves_.push_back(static_cast<int>(nodes_.size()));
        lock(parent).children.push_back(leaves_.back());
        nodes_.emplace_back(s.broken, parent);
      }
      static_cast<void>(lock(parent).counter.join(1, s.degree));
    }
  }
  const int leaf = leaves_.front();
  tasks_.push_back({0, script_.main_mode(), leaf});
  tasks_[0].at = stage::act;
  model_.make(0, tasks_[0].mode);
  if (join(leaf, tasks_[0].signals() ? 0 : -1, 1) == change::reopened) tell_reopened(leaf);
  for (node& n : nodes_) n.open = !tasks_[0].signals();
  release_core(1);
  ready(0);
}

void world::run() {
  while (!ready_.empty() || !duties_.empty()) {
    if (choice_.wants_state() && choice_.known(checker::state(*this))) return;
    step();
    if (++counted_.steps % settings_.check_every == 0) checker::after_step(*this);
    if (counted_.steps > settings_.max_steps) throw violation("the run does not end");
  }
  checker::at_end(*this);
}

void world::step() {
  const auto tasks = static_cast<std::uint32_t>(ready_.size());
  const std::uint32_t n = choice_.below(tasks + static_cast<std::uint32_t>(duties_.size()));
  if (n < tasks) {
    std::swap(ready_[n], ready_.back());
    const int id = ready_.back();
    ready_.pop_back();
    run_task(id);
  } else {
    std::swap(duties_[n - tasks], duties_.back());
    duty d = std::move(duties_.back());
    duties_.pop_back();
    on_duty(std::move(d));
  }
}

world::node& world::lock(int n) {
  require(users_ > 0, "a destroyed phaser is used", n);
  return nodes_[static_cast<std::size_t>(n)];
}

void world::release_core(int units) {
  users_ -= units;
  require(users_ >= 0, "a phaser is destroyed twice", users_);
}

bool world::passed(const task& t) {
  const node& n = lock(t.leaf);
  return n.counter.phase() > t.waited || n.open;
}

change world::join(int n, std::int64_t s, std::int64_t members) {
  node& at = lock(n);
  change c = change::none;
  if (s >= 0) {
    if (at.counter.signallers() == 0) ++active_;
    c = at.counter.join(s, members);
  } else {
    at.batches_arrivals = false;
  }
  if (at.members == 0) ++users_;
  at.members += members;
  if (c == change::reopened) ++counted_.reopenings;
  return c;
}

// The task continues after everything that follows from the update is done.
void world::update(int id, int n, std::int64_t s, const events& e) {
  node& at_node = lock(n);
  const bool was_unarrived = at_node.counter.unarrived() != 0;
  const bool had_signallers = at_node.counter.signallers() != 0;
  if (s > at_node.counter.phase() + 1) ++counted_.run_ahead;
  if (e.signals + e.leave != 0) static_cast<void>(at_node.counter.record(s, e.signals, e.leave));
  if (at(id).batch >= 0 && batch_of(at(id)).leaf == n) take_arrivals(at_node, batch_of(at(id)));
  at_node.members -= e.gone;
  if (!conclude(n, was_unarrived, had_signallers, id)) go_on(id);
}

void world::take_arrivals(node& n, batch& b) {
  if (!b.noted()) return;
  const auto waits = static_cast<std::int64_t>(b.waiting.size());
  const std::int64_t ends = b.ends;
  const bool one_short = broken(fault::arrivals_are_one_short) && waits != 0;
  static_cast<void>(n.counter.record(n.counter.phase(), one_short ? waits - 1 : waits,
                                     broken(fault::arrivals_forget_ends) ? 0 : ends));
  n.members -= ends;
  counted_.noted += waits + ends;
  counted_.parked += waits;
  for (const int id : b.waiting) {
    at(id).noted = false;
    n.parked.push_back(id);
  }
  b.waiting.clear();
  b.ends = 0;
}

// Returns true if something is left to do, after which `then` continues.
bool world::conclude(int n, bool was_unarrived, bool had_signallers, int then) {
  node& at_node = lock(n);
  bool completed = was_unarrived && at_node.counter.unarrived() == 0;
  if (broken(fault::completed_while_one_is_unarrived) && was_unarrived &&
      at_node.counter.unarrived() == 1) {
    completed = true;
  }
  const bool silent = had_signallers && at_node.counter.signallers() == 0;
  const bool opens = silent && !broken(fault::never_opens);
  if (completed && !ends_in_steps_) {
    completed = false;
    advance_locked(at_node);
    if (opens) at_node.open = true;
    while (!silent && at_node.counter.unarrived() == 0 &&
           !broken(fault::signals_ahead_do_not_advance)) {
      advance_locked(at_node);
    }
  } else if (opens && broken(fault::opens_with_a_leaf)) {
    at_node.open = true;
  }
  if (silent) --active_;
  const int empty = at_node.members == 0 ? 1 : 0;
  if (!completed) {
    release_core(empty);
    return false;
  }
  ++users_;
  if (broken(fault::leaf_tells_twice)) {
    ++users_;
    duties_.push_back({job::completed, at_node.parent, -1, 1, false, {}});
  }
  duties_.push_back({job::completed, at_node.parent, then, 1 + empty, false, {}});
  return true;
}

void world::advance_locked(node& n) {
  if (n.counter.advance_phase() == change::completed) ++counted_.advances_at_once;
  if (n.parent < 0) ++counted_.phases;
  const std::int64_t p = n.counter.phase();
  require(!model_.has_signallers() || p <= model_.phase(), "a phase is over too early", p);
  resume(n, std::exchange(n.parked, {}));
}

std::string run(const settings& s, script& program, sim::choice& chooser, counters* out) {
  world w(s, program, chooser);
  std::string wrong;
  try {
    w.run();
  } catch (const violation& v) {
    wrong = v.what();
  }
  if (out != nullptr) *out = w.counted();
  return wrong;
}

}  // namespace phase_sim

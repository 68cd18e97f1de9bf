// SPDX-License-Identifier: Apache-2.0
// How tasks park and continue: alone, in batches, or to run the closure of a next_single.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim_phase_world.hpp"

namespace phase_sim {

void world::park(int id) {
  task& t = at(id);
  const events e = std::exchange(t.untold, {});
  if (passed(t) && !broken(fault::parks_after_the_advance)) {
    require(e.signals == 0, "a phase is over although a task had not signalled it", id);
    next_of_batch(id);
    release(id);
    return ready(id);
  }
  node& n = lock(t.leaf);
  const bool was_unarrived = n.counter.unarrived() != 0;
  const bool had_signallers = n.counter.signallers() != 0;
  if (e.signals != 0) static_cast<void>(n.counter.record(t.waited, e.signals, e.leave));
  n.members -= e.gone;
  t.at = stage::parked;
  n.parked.push_back(id);
  ++counted_.parked;
  next_of_batch(id);
  static_cast<void>(conclude(t.leaf, was_unarrived, had_signallers, -1));
}

// A task continues after the step it was waiting for.
void world::go_on(int id) {
  task& t = at(id);
  if (t.at == stage::ended) return next_of_batch(id);
  if (t.at == stage::elected) {
    next_of_batch(id);
    return arrive(id);
  }
  if (t.at == stage::after_single) release(id);
  ready(id);
}

void world::release(int id) {
  task& t = at(id);
  model_.released(id);
  model_.has_waited(id);
  ++t.waited;
  t.at = stage::act;
}

// The parked tasks continue; those of a batch continue one after another.
void world::resume(node& n, std::vector<int> tasks) {
  for (const int id : tasks) release(id);
  if (!settings_.batches_arrivals || !n.batches_arrivals) {
    ready_.insert(ready_.end(), tasks.begin(), tasks.end());
    return;
  }
  while (!tasks.empty()) {
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(tasks.size(), 16));
    const auto size = static_cast<std::ptrdiff_t>(1 + choice_.below(most));
    const int b = static_cast<int>(batches_.size());
    for (auto i = tasks.end() - size; i != tasks.end(); ++i) at(*i).batch = b;
    batches_.push_back({at(tasks.back()).leaf, {tasks.end() - size, tasks.end()}, {}});
    tasks.erase(tasks.end() - size, tasks.end());
    ready(batches_.back().rest.back());
    batches_.back().rest.pop_back();
  }
}

// Whether the arrival or the end of this task may be batched: the next task of its batch runs on
// the same worker.
bool world::may_note(const task& t) const {
  if (t.batch < 0 || batches_[static_cast<std::size_t>(t.batch)].rest.empty()) return false;
  return t.signals() && t.waits() && !t.has_signalled() && t.credit == 0;
}

// The task stops running. The next task of its batch runs, unless a thief has taken the rest.
void world::next_of_batch(int id) {
  if (at(id).batch < 0) return;
  batch& b = batch_of(at(id));
  const int number = std::exchange(at(id).batch, -1);
  if (b.rest.empty()) return;
  const int next = b.rest.back();
  b.rest.pop_back();
  ready(next);
  if (!b.noted() || !b.rest.empty() || choice_.below(4) != 0) return;
  at(next).batch = -1;
  duties_.push_back({job::flush_arrivals, number, -1, 0, false, {}});
}

// One elected task runs its closure when all signallers have signalled; the others only advance.
void world::advance_single(int id) {
  task& t = at(id);
  if (t.has_signalled() || elected_ >= 0) return wait(id);
  elected_ = id;
  ends_in_steps_ = true;
  ++counted_.singles;
  model_.single_begins(t.waited);
  model_.signal(id);
  t.arrivals = 0;
  t.at = stage::elected;
  update(id, t.leaf, t.waited, signal_events(t));
}

void world::arrive(int id) {
  if (++at(id).arrivals != 2) return;
  at(id).at = stage::closure;
  ready(id);
}

}  // namespace phase_sim

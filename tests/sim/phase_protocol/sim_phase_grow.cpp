// SPDX-License-Identifier: Apache-2.0
// How the only tree node of a clock becomes the first leaf of a tree: mirrors phase_core::grow().
// The phase does not end meanwhile, because the task that spawns has not signalled it.
#include "sim_phase_world.hpp"

namespace phase_sim {

bool world::is_crowded(const task& t) {
  return root_ == 0 && settings_.grows_to > 1 && t.signals() && t.credit == 0 &&
         !t.has_signalled() && lock(t.leaf).counter.unarrived() >= settings_.crowd;
}

void world::grow(int id) {
  task& t = at(id);
  const bool early = broken(fault::tree_is_found_too_early);
  if (t.at == stage::grow) {
    if (!early) ends_in_steps_ = true;
    t.at = stage::publish;
  } else if (t.at == stage::publish && root_ == 0) {
    publish();
    t.at = stage::tie;
  } else {
    if (t.at == stage::tie) lock(0).parent = root_;
    if (early) ends_in_steps_ = true;
    t.at = stage::act;
    return spawn(id, t.spawning);
  }
  ready(id);
}

// All leaves but the first have completed the phase, as no task is registered there.
void world::publish() {
  const std::int64_t p = lock(0).counter.phase();
  root_ = static_cast<int>(nodes_.size());
  const auto made = [&](int parent) -> node& {
    node& n = nodes_.emplace_back(settings_.broken, parent);
    n.counter.begin_at(p);
    return n;
  };
  node& root = made(-1);
  const bool forgets = broken(fault::root_does_not_wait_for_the_first_leaf);
  static_cast<void>(root.counter.join(p + 1, settings_.grows_to - (forgets ? 0 : 1)));
  if (!forgets) static_cast<void>(root.counter.join(p, 1));
  for (int i = 1; i < settings_.grows_to; ++i) {
    leaves_.push_back(static_cast<int>(nodes_.size()));
    made(root_);
  }
  lock(root_).children = leaves_;
  ++counted_.grown;
}

}  // namespace phase_sim

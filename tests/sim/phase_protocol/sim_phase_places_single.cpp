// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "sim_phase_places.hpp"

// next_single over places: mirrors phases.cpp (advance_single), phase_core.cpp (elect, follow) and
// phase_links.cpp.
namespace phase_sim {

// Returns false if the task is not elected and only advances.
bool places_world::elect(int id) {
  task& t = at(id);
  node& n = at_place(t.place);
  if (!t.signals() || !t.waits() || t.has_signalled() || n.elected != nobody ||
      (t.place == 0 && runner_ != nobody)) {
    return false;
  }
  n.elected = id;
  model_.single_begins(t.waited);
  if (t.place != 0 && broken_ != place_fault::election_is_not_told) {
    send(t.place, 0, {.what = sort::elected, .phase = n.counter.phase()});
  }
  t.at = stage::elected;
  ready_.push_back(id);
  return true;
}

// At the home, when all signallers have signalled.
void places_world::choose() {
  require(!std::exchange(told_single_, true), "a next_single is started twice", 0);
  const node& n = at_place(0);
  if (runner_ != nobody) return send(0, runner_, {.what = sort::run_single});
  at(n.elected).at = stage::chosen;
  ready_.push_back(n.elected);
}

void places_world::run_single(int id) {
  task& t = at(id);
  model_.single_runs(t.waited);
  ++counted.singles;
  at_place(t.place).elected = nobody;
  if (t.place == 0) {
    single_ended();
  } else {
    send(t.place, 0, {.what = sort::single_done});
  }
  wait(id);  // the task has signalled
}

void places_world::single_ended() {
  runner_ = nobody;
  told_single_ = false;
  at_place(0).unseen = true;
}

void places_world::deliver_single(int from, int to, const message& m) {
  node& n = at_place(to);
  switch (m.what) {
    case sort::elected:
      require(m.phase == n.counter.phase(), "a place is elected in another phase", from);
      if (runner_ != nobody || n.elected != nobody) return;
      runner_ = from;
      if (broken_ == place_fault::run_before_all_have_signalled) choose();
      return;
    case sort::run_single:
      require(n.exists && n.elected != nobody, "a place without an elected task is chosen", to);
      at(n.elected).at = stage::chosen;
      ready_.push_back(n.elected);
      if (broken_ == place_fault::goes_on_without_done) send(to, 0, {.what = sort::single_done});
      return;
    default:
      single_ended();
  }
}

// A replica hears that all phases before p are over, so the task it elected was not chosen.
void places_world::follow(int place, std::int64_t p) {
  node& n = at_place(place);
  if (n.counter.phase() >= p) return;
  const int id = n.elected;
  if (broken_ != place_fault::elected_is_kept) n.elected = nobody;
  while (n.counter.phase() < p) advance_phase(place);
  if (id == nobody) return;
  ++counted.not_chosen;
  if (broken_ != place_fault::every_place_runs) return go_on(id);
  at(id).at = stage::chosen;
  ready_.push_back(id);
}

}  // namespace phase_sim

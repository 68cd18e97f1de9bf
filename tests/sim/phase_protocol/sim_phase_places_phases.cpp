// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "sim_phase_places.hpp"

// How a phase ends at the home and at a replica, and what a replica reports: mirrors phase_core.cpp
// (begin_phases) and phase_links.cpp.
namespace phase_sim {

using apgas::sync::phase_uplink;

constexpr std::int64_t every_phase = std::numeric_limits<std::int64_t>::max();

void places_world::advance_phase(int place) {
  node& n = at_place(place);
  require(n.counter.unarrived() == 0, "a phase ends before all have signalled", n.counter.phase());
  static_cast<void>(n.counter.advance_phase());
  resume(place);
}

void places_world::resume(int place) {
  for (const int id : std::exchange(at_place(place).parked, {})) go_on(id);
}

// The phase that the task waited for is over.
void places_world::go_on(int id) {
  model_.released(id);
  model_.has_waited(id);
  task& t = at(id);
  if (!t.signals()) waiter_moved(t.place, t.waited, t.waited + 1);
  ++t.waited;
  t.read = 0;
  t.at = stage::act;
  ready_.push_back(id);
}

// Other tasks may act between the reductions and the phase advance.
void places_world::begin_phases() {
  const node& n = at_place(0);
  while (n.counter.unarrived() == 0 && !n.open && !reduced_) {
    if (runner_ != nobody || n.elected != nobody) return choose();
    if (settings_.accumulators == 0) {
      advance_home();
    } else {
      reduce();
      reduced_ = true;
    }
  }
}

void places_world::advance_home() {
  node& n = at_place(0);
  n.open = n.counter.signallers() == 0;
  if (n.open) reduce_last();
  advance_phase(0);
  ++counted.phases;
  unannounced_ = true;
  n.unseen = n.unseen || std::exchange(reduced_, false);  // the next phase may be complete at once
}

void places_world::announce() {
  unannounced_ = false;
  if (broken_ == place_fault::home_forgets_to_release) return;
  const node& n = at_place(0);
  down_.on_phase(n.counter.phase(), [&](int place) {
    ++counted.releases;
    send(0, place, {.what = sort::phase, .phase = n.counter.phase(), .open = n.open});
  });
}

// remote_phases: changed() and remove().
void places_world::look(int place) {
  node& n = at_place(place);
  n.unseen = false;
  if (place == 0) return begin_phases();
  if (!n.exists) return;
  phase_uplink::view v{
      .phase = n.counter.phase(),
      .first = n.counter.signallers() != 0 ? n.counter.first() : phase_uplink::silent,
      .members = n.members != 0};
  if (broken_ == place_fault::position_is_the_node_s_phase && v.first > v.phase)
    v.first = v.phase + 1;
  const bool goes =
      n.up.may_go(v) || (broken_ == place_fault::goes_unacknowledged && n.members == 0);
  if (goes) {
    if (broken_ != place_fault::goes_with_parts) send_parts(place, every_phase);
    n.exists = false;
    return send(place, 0, {.what = sort::gone});
  }
  const std::int64_t told = n.up.told();
  if (const auto news = n.up.look(v)) {
    ++(told >= 0 && news->at > told ? counted.arrivals : counted.positions);
    const std::int64_t first = news->at == phase_uplink::silent ? every_phase : news->at;
    const bool late = broken_ == place_fault::parts_after_the_position;
    if (!late) send_parts(place, first);
    send(place, 0, {.what = sort::position, .phase = news->at, .acknowledge = news->acknowledge});
    if (late) send_parts(place, first);
  }
}

}  // namespace phase_sim

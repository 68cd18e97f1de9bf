// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <apgas/sync/critical_section.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_phases.hpp>

#include "phase_wire.hpp"

// The two ends of the link between the home and a replica of a clock or phaser, and the messages
// they send each other.
namespace apgas::inline v0::sync {

// ---- the home -----------------------------------------------------------------------------------

void phase_home::changed(scheduler::worker&) noexcept {
  std::lock_guard hold(lock_);
  const std::int64_t p = core_.phase();
  const std::uint64_t open = core_.root().is_open() ? flag_open : 0U;
  replicas_.on_phase(p, [&](comm::rank place) {
    count_one(table_.releases_);
    table_.send(place, operation_phase | open, core_.number(), p);
  });
}

// Sends the results before any replica is told that phase p is over, so that every task of the next
// phase finds them.
void phase_home::reduced(std::int64_t p) noexcept {
  const section_guard no_suspension(*scheduler::current_fiber());
  core_.for_each_action([&](phase_action& a) {
    const phase_value v = a.result_of(p);
    std::lock_guard hold(lock_);
    for (const auto& [place, replica] : replicas_.replicas()) {
      table_.send_value(place, operation_result, core_, a.index(), p, v);
    }
  });
}

// This message arrives before the place signals the phase. So the home is still in the place's
// phase.
void phase_home::on_task_elected(comm::rank place) {
  std::lock_guard hold(lock_);
  if (runner_.elected) return;
  runner_.home = this;
  runner_.place = place;
  runner_.elected = core_.elect(runner_);
}

void phase_home::place_runner::all_signalled() noexcept {
  home->table_.send(place, operation_run_single, home->core_.number(), home->core_.phase());
}

void phase_home::on_single_done(scheduler::worker& w) {
  {
    std::lock_guard hold(lock_);
    runner_.elected = false;
  }
  core_.single_done(w);
}

void phase_home::apply(scheduler::worker& w, const phase_downlink::steps& s) {
  phaser_tree_node& leaf = core_.leaf(0);
  if (s.join >= 0) leaf.join(s.join, 1);
  if (s.signal >= 0) leaf.update(w, s.signal, {.signals = 1});
  if (s.leave >= 0) leaf.update(w, s.leave, {.leave = 1, .gone = 1});
}

void phase_home::on_position(scheduler::worker& w, comm::rank place, std::int64_t at,
                             bool acknowledge) {
  phase_downlink::steps steps;
  {
    std::lock_guard hold(lock_);
    steps = replicas_.on_position(place, at);
  }
  if (steps.first) {
    core_.retain();
    core_.end_phases_in_steps();
  }
  apply(w, steps);
  if (!acknowledge) return;
  std::lock_guard hold(lock_);
  const phase_uplink::view now = core_.root().look();
  replicas_.on_told(place, now.phase);
  count_one(table_.acknowledgements_);
  table_.send(place, operation_phase | flag_acknowledge | (core_.root().is_open() ? flag_open : 0U),
              core_.number(), now.phase);
}

void phase_home::on_gone(scheduler::worker& w, comm::rank place) {
  phase_downlink::steps steps;
  {
    std::lock_guard hold(lock_);
    steps = replicas_.on_gone(place);
  }
  apply(w, steps);
  core_.release();
}

// ---- the replica --------------------------------------------------------------------------------

// Reports the position to the home if it has changed. Returns true if no task is registered here
// any more. Requires: lock_ is held.
bool phase_replica::tell() {
  const phase_uplink::view v = core_.root().look();
  if (home_.may_go(v)) {
    send_parts(every_phase);
    return true;
  }
  const std::int64_t told = home_.told();
  if (const auto news = home_.look(v)) {
    send_parts(news->at == phase_uplink::silent ? every_phase : news->at);
    count_one(told >= 0 && news->at > told ? table_.arrivals_ : table_.positions_);
    table_.send(phase_core::home_of(core_.number()),
                operation_position | (news->acknowledge ? flag_acknowledge : 0U), core_.number(),
                news->at);
  }
  return false;
}

// Sends all partial results of phases before `first`. The home must have them before it hears that
// no signaller here is unarrived in those phases. Requires: lock_ is held. A task that comes to
// send in such a phase needs the same lock (on_transit).
void phase_replica::send_parts(std::int64_t first) {
  const section_guard no_suspension(*scheduler::current_fiber());
  core_.for_each_action([&](phase_action& a) {
    while (const auto part = a.take_part(core_.phase(), first)) {
      table_.send_value(phase_core::home_of(core_.number()), operation_part, core_, a.index(),
                        part->phase, part->value);
    }
  });
}

void phase_replica::task_elected() noexcept {
  std::lock_guard hold(lock_);
  table_.send(phase_core::home_of(core_.number()), operation_elected, core_.number(),
              core_.phase());
}

void phase_replica::single_done() noexcept {
  table_.send(phase_core::home_of(core_.number()), operation_single_done, core_.number(),
              core_.phase());
}

void phase_replica::on_chosen() {
  std::lock_guard hold(lock_);
  core_.chosen_for_single();
}

void phase_replica::changed(scheduler::worker&) noexcept {
  {
    std::lock_guard hold(lock_);
    if (gone_ || !tell()) return;
  }
  table_.remove(*this);
}

void phase_replica::on_transit(scheduler::worker& w, std::int64_t base, const phase_transits& t) {
  std::lock_guard hold(lock_);
  core_.follow(w, base, false);
  static_cast<void>(tell());
  // If the home sent the registration, messages to the home are in order, and no acknowledgement is
  // needed.
  if (t.sender == phase_core::home_of(core_.number()) || home_.may_tell(t)) {
    table_.send_arrived(core_.number(), t);
  }
}

void phase_replica::on_phase(scheduler::worker& w, std::int64_t p, bool open, bool acknowledged) {
  {
    std::lock_guard hold(lock_);
    core_.follow(w, p, open);
    if (acknowledged) {
      for (const phase_transits& t : home_.on_acknowledged()) {
        table_.send_arrived(core_.number(), t);
      }
    }
    if (gone_ || !tell()) return;
  }
  table_.remove(*this);
}

}  // namespace apgas::inline v0::sync

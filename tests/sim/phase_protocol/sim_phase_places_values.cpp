// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "sim_phase_places.hpp"

// Accumulators over places: the part that the links do (phase_links.cpp, remote_phases.cpp). Every
// contribution is a number of its own. The contributions to a phase and its result are compared as
// multisets.
namespace phase_sim {

// The phases of the wait-only tasks at this place.
void places_world::waiter_moved(int place, std::int64_t from, std::int64_t to) {
  auto& waiters = at_place(place).waiters;
  if (to >= 0) ++waiters[to];
  if (from >= 0 && --waiters[from] == 0) waiters.erase(from);
}

std::int64_t places_world::oldest(int place) {
  const node& n = at_place(place);
  const std::int64_t p = n.counter.phase();
  return n.waiters.empty() ? p : std::min(p, n.waiters.begin()->first);
}

// A task contributes before its next action.
void places_world::contribute(task& t) {
  if (!t.signals() || t.has_signalled()) return;
  node& n = at_place(t.place);
  const std::size_t last = (t.step % 3 == 0 ? 2U : 1U);
  for (std::size_t i = 0; i < std::min(last, n.values.size()); ++i) {
    const std::size_t a = (static_cast<std::size_t>(t.name + t.step) + i) % n.values.size();
    const std::int64_t x = t.name * 1'000 + t.step;
    n.values[a].send(t.signalled, n.counter.phase(), x);
    contributions& all = sent_[{a, t.signalled}];
    all.insert(std::lower_bound(all.begin(), all.end(), x), x);
  }
}

// Reads the results of the previous phase; sometimes only after the task has moved to another
// place. Returns false if the task waits for a result from the home.
bool places_world::reads(int id) {
  task& t = at(id);
  if (!t.registered || !t.waits() || t.waited == 0 || (t.name + t.step) % 2 != 0) return true;
  node& n = at_place(t.place);
  for (; t.read < settings_.accumulators; ++t.read) {
    const auto a = static_cast<std::size_t>(t.read);
    const bool here = t.place == 0 || n.values[a].result(t.waited - 1) != nullptr;
    if (!here && !std::exchange(t.answered, true)) {
      ++counted.asks;
      t.at = stage::asks;
      n.asking.push_back(id);
      send(t.place, 0, {.what = sort::ask, .phase = t.waited - 1, .number = t.read});
      return false;
    }
    t.answered = false;
    read(t, a);
  }
  return true;
}

void places_world::read(const task& t, std::size_t accumulator) {
  const std::int64_t p = t.waited - 1;
  const place_accumulator& v = nodes_[static_cast<std::size_t>(t.place)].values[accumulator];
  const contributions* found = v.result(p);
  if (found == nullptr && !v.ended_before(p)) {
    // phase.md, section Accumulators: the task lags behind, or its spawner had signalled the phase.
    require(!t.signals() || (t.place != 0 && t.waited == t.signalled_by_spawner),
            "a task that signals finds no result", t.name);
    ++counted.too_late;
    return;
  }
  ++counted.reads;
  const auto sent = sent_.find({accumulator, p});
  require((found == nullptr ? contributions{} : *found) ==
              (sent == sent_.end() ? contributions{} : sent->second),
          "a result differs from what was sent", p);
}

// The partial results of phases before `first` are sent before the home hears that no signaller
// here is unarrived in those phases.
void places_world::send_parts(int place, std::int64_t first) {
  node& n = at_place(place);
  for (std::size_t a = 0; a < n.values.size(); ++a) {
    while (const auto part = n.values[a].take_part(n.counter.phase(), first)) {
      ++counted.parts;
      if (broken_ == place_fault::part_is_lost) continue;
      const message m{.what = sort::part,
                      .phase = part->first + (broken_ == place_fault::part_is_a_phase_late ? 1 : 0),
                      .number = static_cast<std::int64_t>(a),
                      .value = part->second};
      send(place, 0, m);
      if (broken_ == place_fault::part_is_sent_twice) send(place, 0, m);
    }
  }
}

// The current phase gets its results while all its tasks still wait.
void places_world::reduce() {
  node& n = at_place(0);
  const std::int64_t p = n.counter.phase();
  for (std::size_t a = 0; a < n.values.size(); ++a) {
    n.values[a].phase_ended(p, oldest(0));
    made_[{a, p}] = *n.values[a].result(p);
    const std::int64_t of = p - (broken_ == place_fault::result_of_the_phase_before && p > 0);
    for (const auto& [place, r] : down_.replicas()) {
      const contributions* const v = n.values[a].result(of);
      send(0, place,
           {.what = sort::result,
            .phase = p,
            .number = static_cast<std::int64_t>(a),
            .nothing = v == nullptr,
            .value = v == nullptr ? contributions{} : *v});
    }
  }
}

// No signaller is left, but signal-only tasks may have run ahead.
void places_world::reduce_last() {
  if (broken_ == place_fault::run_ahead_is_not_reduced) return;
  node& n = at_place(0);
  const std::int64_t p = n.counter.phase() + 1;
  for (std::size_t a = 0; a < n.values.size(); ++a) {
    n.values[a].last_phases_ended(p, oldest(0));
    for (std::int64_t q = p; n.values[a].result(q) != nullptr; ++q) {
      made_[{a, q}] = *n.values[a].result(q);
    }
  }
}

void places_world::deliver_value(int from, int to, const message& m) {
  node& n = at_place(to);
  const auto a = static_cast<std::size_t>(m.number);
  if (m.what == sort::part) return n.values[a].add_part(m.phase, m.value);
  if (m.what == sort::ask) {
    if (broken_ == place_fault::ask_is_not_answered) return;
    const contributions* const v = n.values[a].result(m.phase);
    return send(0, from,
                {.what = sort::result,
                 .phase = m.phase,
                 .number = m.number,
                 .nothing = v == nullptr && !n.values[a].ended_before(m.phase),
                 .value = v == nullptr ? contributions{} : *v});
  }
  if (!n.exists) return;  // the result is late
  n.values[a].set_result(m.phase, oldest(to), m.nothing ? nullptr : &m.value);
  std::erase_if(n.asking, [&](int id) {
    task& t = at(id);
    if (t.waited - 1 != m.phase || t.read != m.number) return false;
    t.at = stage::act;
    ready_.push_back(id);
    return true;
  });
}

// At the end: every contribution is in exactly one result, that of its phase.
void places_world::check_values() const {
  for (const auto& [of, all] : sent_) {
    const auto found = made_.find(of);
    require(found != made_.end() && found->second == all, "a result lacks a value that was sent",
            of.second);
  }
  for (const auto& [of, all] : made_) {
    require(all.empty() || sent_.contains(of), "a result has a value that no task sent", of.second);
  }
}

}  // namespace phase_sim

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim_phase_faults.hpp"
#include "sim_phase_places.hpp"

namespace phase_sim {

using apgas::sync::phase_transits;

places_world::places_world(const places_settings& s, script& actions, sim::choice& chooser)
    : settings_(s),
      script_(actions),
      choice_(chooser),
      broken_(s.broken),
      nodes_(static_cast<std::size_t>(s.places)) {
  nodes_[0].exists = true;
  nodes_[0].values.resize(static_cast<std::size_t>(s.accumulators));
  tasks_.push_back({0, actions.main_mode(), 0});
  model_.make(0, tasks_[0].mode);
  join(0, 0);
  ready_.push_back(0);
}

void places_world::run() {
  for (;;) {
    if (choice_.wants_state() && choice_.known(state())) return;
    std::size_t looks = 0;
    for (const node& n : nodes_) looks += n.unseen ? 1 : 0;
    if (ready_.empty() && channels_.empty() && looks == 0 && !unannounced_ && !reduced_) {
      break;
    }
    step();
    require(!model_.has_signallers() || nodes_[0].counter.phase() <= model_.phase(),
            "a phase is over too early", nodes_[0].counter.phase());
    if (++counted.steps > settings_.most_steps) throw violation("the run does not end");
  }
  check_end();
}

void places_world::step() {
  std::vector<int> looks;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].unseen) looks.push_back(static_cast<int>(i));
  }
  const std::size_t all = ready_.size() + channels_.size() + looks.size() +
                          (unannounced_ ? 1U : 0U) + (reduced_ ? 1U : 0U);
  std::size_t n = choice_.below(static_cast<std::uint32_t>(all));
  if (n < ready_.size()) {
    std::sort(ready_.begin(), ready_.end());
    const int id = ready_[n];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(n));
    switch (at(id).at) {
      case stage::arrived:
        return arrive(id);
      case stage::elected:
        at(id).at = stage::single;
        return signal(id);
      case stage::chosen:
        return run_single(id);
      default:
        return act(id);
    }
  }
  n -= ready_.size();
  if (n < channels_.size()) {
    const auto [from, to] = std::next(channels_.begin(), static_cast<std::ptrdiff_t>(n))->first;
    return deliver(from, to);
  }
  n -= channels_.size();
  if (n < looks.size()) return look(looks[n]);
  n -= looks.size();
  if (n == 0 && unannounced_) return announce();
  advance_home();
}

bool places_world::passed(const task& t) const {
  const node& n = nodes_[static_cast<std::size_t>(t.place)];
  return n.counter.phase() > t.waited || n.open;
}

void places_world::act(int id) {
  if (!reads(id)) return;
  task& t = at(id);
  const action a = script_.next({t.name, t.step++, t.mode, t.registered});
  if (a.what == op::end || !t.registered) {
    t.at = stage::ended;
    if (t.registered) leave(id);
    return;
  }
  contribute(t);
  switch (a.what) {
    case op::spawn: {
      task child{a.name, a.mode, t.place};
      child.signalled = t.signals() ? t.signalled : t.waited;
      child.waited = t.waits() ? t.waited : t.signalled;
      if (t.has_signalled()) child.signalled_by_spawner = t.waited;
      if (!child.signals()) child.signalled = child.waited;
      if (!child.waits()) child.waited = child.signalled;
      const int child_id = static_cast<int>(tasks_.size());
      tasks_.push_back(child);
      model_.spawn(id, child_id, a.mode);
      ready_.push_back(id);
      const int to = static_cast<int>(choice_.below(static_cast<std::uint32_t>(nodes_.size())));
      const bool counted_here =
          to == tasks_.back().place || broken_ != place_fault::transit_is_not_counted;
      if (counted_here) join(child.place, child.signals() ? child.signalled : -1);
      if (!child.signals()) waiter_moved(child.place, -1, child.waited);
      if (to == child.place) {
        ready_.push_back(child_id);
      } else {
        travel(child_id, to);
      }
      return;
    }
    case op::travel:
      return travel(id, static_cast<int>(choice_.below(static_cast<std::uint32_t>(nodes_.size()))));
    case op::drop:
      t.registered = false;
      leave(id);
      break;
    case op::resume:
      if (t.signals()) signal(id);
      break;
    default:
      if (a.what == op::single && elect(id)) return;
      if (t.waits()) return wait(id);
      signal(id);
  }
  ready_.push_back(id);
}

void places_world::travel(int id, int to) {
  task& t = at(id);
  if (to == t.place) return ready_.push_back(id);
  ++counted.travels;
  t.sender = t.place;
  t.base = at_place(t.place).counter.phase();
  t.at = stage::away;
  const int from = std::exchange(t.place, to);
  send(from, to, {.what = sort::registration, .number = id});
}

// Delivers the next message from one place to another. A task that arrives is counted here.
void places_world::deliver(int from, int to) {
  const auto channel = channels_.find({from, to});
  const message m = channel->second.front();
  channel->second.pop_front();
  if (channel->second.empty()) channels_.erase(channel);
  node& n = at_place(to);
  switch (m.what) {
    case sort::registration: {
      task& t = at(static_cast<int>(m.number));
      if (!n.exists) {
        n = {};
        n.counter =
            apgas::sync::phase_counter(broken_ == place_fault::base_is_ignored ? 0 : t.base);
        n.exists = true;
        n.values.resize(static_cast<std::size_t>(settings_.accumulators));
        ++counted.replicas;
      }
      join(to, t.signals() ? t.signalled : -1);
      t.at = stage::arrived;
      return ready_.push_back(static_cast<int>(m.number));
    }
    case sort::position: {
      const auto s = down_.on_position(from, m.phase);
      if (s.join >= 0) join(0, s.join);
      if (s.signal >= 0) record(0, s.signal, 1, 0, 0);
      if (s.leave >= 0) record(0, s.leave, 0, 1, 1);
      if (!m.acknowledge) return;
      require(down_.replicas().contains(from),
              "a place is acknowledged after its replica was removed", from);
      down_.on_told(from, n.counter.phase());
      return send(
          0, from,
          {.what = sort::phase, .phase = n.counter.phase(), .acknowledge = true, .open = n.open});
    }
    case sort::gone: {
      require(down_.replicas().contains(from),
              "a place removes a replica that the home does not know", from);
      const auto s = down_.on_gone(from);
      if (s.leave >= 0) record(0, s.leave, 0, 1, 1);
      return;
    }
    case sort::phase:
      if (!n.exists) {
        require(!m.acknowledge, "an acknowledgement finds no replica", to);
        return;
      }
      follow(to, m.phase);
      if (m.open && !n.open) {
        n.open = true;
        resume(to);
      }
      n.unseen = n.unseen || broken_ != place_fault::no_look_after_a_phase;
      if (!m.acknowledge) return;
      require(!n.up.acknowledged(), "an acknowledgement was not requested", to);
      for (const phase_transits& t : n.up.on_acknowledged()) {
        send(to, t.sender,
             {.what = sort::arrived, .phase = t.at, .number = t.number, .signals = t.signals});
      }
      return;
    case sort::arrived:
      require(n.exists, "a registration has arrived whose sender has gone", to);
      if (!m.signals) waiter_moved(to, m.phase, -1);
      return record(to, m.phase, 0, m.signals ? m.number : 0, m.number);
    case sort::part:
    case sort::result:
    case sort::ask:
      return deliver_value(from, to, m);
    default:
      return deliver_single(from, to, m);
  }
}

// In the task at its new place: a separate step, after the registration was counted.
void places_world::arrive(int id) {
  task& t = at(id);
  node& n = at_place(t.place);
  t.at = stage::act;
  ready_.push_back(id);
  const phase_transits in_transit{
      .sender = t.sender, .at = t.signals() ? t.signalled : t.waited, .signals = t.signals()};
  const bool uncounted = broken_ == place_fault::transit_is_not_counted && t.step == 0;
  bool tell = true;
  if (!t.signals()) waiter_moved(t.place, -1, t.waited);
  if (t.place != 0) {
    if (broken_ != place_fault::base_is_ignored) follow(t.place, t.base);
    look(t.place);
    tell = t.sender == 0 || n.up.may_tell(in_transit) ||
           broken_ == place_fault::sender_is_told_at_once;
  }
  if (!tell) ++counted.kept;
  if (!tell || uncounted || broken_ == place_fault::sender_is_not_told) return;
  send(t.place, t.sender,
       {.what = sort::arrived, .phase = in_transit.at, .number = 1, .signals = in_transit.signals});
}

void places_world::signal(int id) {
  task& t = at(id);
  model_.signal(id);
  if (t.has_signalled()) return;
  record(t.place, t.signalled++, 1, 0, 0);
}

void places_world::wait(int id) {
  task& t = at(id);
  if (t.signals()) signal(id);
  if (passed(t)) {
    return go_on(id);
  }
  node& n = at_place(t.place);
  // The exception is a task that waits when no signaller is left, which its replica does not know
  // yet.
  require(n.counter.phase() == t.waited || model_.complete(t.waited),
          "a task waits at a tree node that is behind its phase", t.name);
  t.at = stage::parked;
  n.parked.push_back(id);
}

void places_world::leave(int id) {
  const task& t = at(id);
  model_.leave(id);
  if (!t.signals()) waiter_moved(t.place, t.waited, -1);
  record(t.place, t.signalled, 0, t.signals() ? 1 : 0, 1);
}

void places_world::join(int place, std::int64_t s) {
  node& n = at_place(place);
  ++n.members;
  if (s < 0) return;
  require(s >= n.counter.phase(), "a signaller joins a phase that is over", s);
  static_cast<void>(n.counter.join(s));
}

void places_world::record(int place, std::int64_t s, std::int64_t signals, std::int64_t leave,
                          std::int64_t gone) {
  node& n = at_place(place);
  if (signals + leave != 0) {
    require(s >= n.counter.phase(), "a signal is for a phase that is over", s);
    require(access::at(n.counter, s) >= signals + leave, "too many signallers signal a phase", s);
    const bool had = n.counter.signallers() != 0;
    const auto c = n.counter.record(s, signals, leave);
    const bool silent = had && n.counter.signallers() == 0;
    if (c == apgas::sync::phase_counter::change::completed) n.unseen = true;
    if (silent && place != 0) n.unseen = true;
  }
  n.members -= gone;
  require(n.members >= 0, "more tasks deregister than registered", place);
  if (n.members == 0 && place != 0) n.unseen = true;
}

void places_world::send(int from, int to, const message& m) { channels_[{from, to}].push_back(m); }

void places_world::check_end() const {
  for (const task& t : tasks_) require(t.at == stage::ended, "a task never ends", t.name);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    require(nodes_[i].members == 0, "registered tasks are left at the end", static_cast<int>(i));
    require(i == 0 || !nodes_[i].exists, "a replica is left at the end", static_cast<int>(i));
  }
  require(down_.replicas().empty(), "the home knows a replica at the end", 0);
  check_values();
}

std::string run_places(const places_settings& s, script& actions, sim::choice& chooser,
                       places_world::counts* out) {
  places_world w(s, actions, chooser);
  std::string wrong;
  try {
    w.run();
  } catch (const violation& v) {
    wrong = v.what();
  }
  if (out != nullptr) *out = w.counted;
  return wrong;
}

}  // namespace phase_sim

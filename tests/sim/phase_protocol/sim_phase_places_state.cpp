// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim_phase_faults.hpp"
#include "sim_phase_places.hpp"

// The state that determines everything that can happen, for an explorer of all orders that
// remembers the states it has visited.
namespace apgas::inline v0::sync {

struct uplink_test_access {
  // Everything that determines the future behaviour.
  static std::vector<std::int64_t> state(const phase_uplink& up) {
    std::vector<std::int64_t> all = {up.told_, static_cast<std::int64_t>(up.asked_ - up.answered_)};
    for (const auto& k : up.kept_) {
      all.insert(all.end(), {static_cast<std::int64_t>(k.after - up.answered_), k.transit.sender,
                             k.transit.leaf, k.transit.at, k.transit.signals, k.transit.number});
    }
    return all;
  }
};

}  // namespace apgas::inline v0::sync

namespace phase_sim {

std::string places_world::state() const {
  std::string all;
  const auto put = [&all](const std::vector<std::int64_t>& values) {
    for (const std::int64_t v : values) all.append(std::to_string(v)).push_back(' ');
  };
  for (const node& n : nodes_) {
    put({n.counter.phase(), n.counter.signallers(), n.members, n.open, n.exists, n.unseen,
         n.elected});
    for (std::int64_t s = n.counter.phase(); s <= access::last(n.counter); ++s) {
      put({access::at(n.counter, s)});
    }
    put(apgas::sync::uplink_test_access::state(n.up));
    for (const int id : n.parked) put({id});
    for (const int id : n.asking) put({-id});
    for (const place_accumulator& v : n.values) {
      v.put_state([&put](std::int64_t p, const contributions& c) {
        put({p});
        put(c);
      });
    }
    for (const auto& [p, tasks] : n.waiters) put({p, tasks});
    all.push_back('|');
  }
  std::vector<std::string> tasks;
  for (const task& t : tasks_) {
    const std::string before = std::exchange(all, {});
    put({t.name, t.place, t.signalled, t.waited, t.step, t.sender, t.base,
         static_cast<std::int64_t>(t.at), t.registered, t.read, t.answered, &t - tasks_.data()});
    tasks.push_back(std::exchange(all, before));
  }
  for (const std::string& t : tasks) all.append(t).push_back('|');
  for (const auto& [ends, queue] : channels_) {
    put({ends.first, ends.second});
    for (const message& m : queue) {
      put({static_cast<std::int64_t>(m.what), m.phase, m.number, m.acknowledge, m.open, m.signals,
           m.nothing});
      put(m.value);
    }
    all.push_back('|');
  }
  for (const auto& [place, r] : down_.replicas()) put({place, r.at, r.released});
  put({unannounced_, reduced_, runner_, told_single_});
  return all;
}

}  // namespace phase_sim

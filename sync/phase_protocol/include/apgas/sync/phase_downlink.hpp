// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/sync/phase_uplink.hpp>

// What the home of a clock or phaser knows about its replicas at other places. A pure state
// machine: it takes no lock and sends no message. In the home's counter each replica is one
// signaller, counted at the position that the replica reported last (phase_uplink.hpp).
//
// Invariant
//   D1  Every phase before `released` is over, and the replica has been told so.
namespace apgas::inline v0::sync {

class phase_downlink {
 public:
  struct replica {
    std::int64_t at = phase_uplink::silent;
    // No phase is announced before the first on_told().
    std::int64_t released = std::numeric_limits<std::int64_t>::max();
  };

  // The events to apply to the home's counter, in this order; -1 if there is no such event.
  struct steps {
    std::int64_t join = -1;
    std::int64_t signal = -1;
    std::int64_t leave = -1;
    bool first = false;  // the home did not know of a replica at that place
  };

  // A place has reported its position.
  [[nodiscard]] steps on_position(int place, std::int64_t at) {
    steps todo;
    const auto [found, first] = replicas_.try_emplace(place);
    todo.first = first;
    const std::int64_t was = std::exchange(found->second.at, at);
    if (at == was) {  // the place has only waiting tasks, before and after
    } else if (at == phase_uplink::silent) {
      todo.leave = was;
    } else if (was == phase_uplink::silent) {
      todo.join = at;
    } else if (at == was + 1) {
      todo.signal = was;
    } else {
      todo.join = at;  // join before leaving, so that the place is a signaller throughout
      todo.leave = was;
    }
    return todo;
  }

  // A place has removed its replica. Returns the events that remove the replica's signaller.
  [[nodiscard]] steps on_gone(int place) {
    const auto found = replicas_.find(place);
    APGAS_ASSERT(found != replicas_.end(), "a place left a clock that it was not at");
    steps todo;
    todo.leave = found->second.at;
    replicas_.erase(found);
    return todo;
  }

  // All phases before `phase` are over. Calls tell(place) for each replica that has not been told
  // yet.
  template <class Tell>
  void on_phase(std::int64_t phase, Tell tell) {
    for (auto& [place, r] : replicas_) {
      if (r.released >= phase) continue;
      r.released = phase;
      tell(place);
    }
  }

  // An acknowledgement, which carries the current phase, was sent to the place.
  void on_told(int place, std::int64_t phase) noexcept { replicas_.at(place).released = phase; }

  const std::map<int, replica>& replicas() const noexcept { return replicas_; }

 private:
  std::map<int, replica> replicas_;  // by place
};

}  // namespace apgas::inline v0::sync

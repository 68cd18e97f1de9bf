// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/sync/phase_uplink.hpp>

// What the home of a clock or phaser knows of its replicas. A pure state machine: no lock, nothing
// is sent. Each replica is a signaller of the home's counter, at the position that it told last.
//
// Invariant
//   D1  released: every phase before it is over, and the replica was told so.
namespace apgas::inline v0::sync {

class phase_downlink {
 public:
  struct replica {
    std::int64_t at = phase_uplink::silent;
    std::int64_t released = std::numeric_limits<std::int64_t>::max();  // until the first on_told()
  };

  // What the counter of the home is to be told, in this order; none: -1.
  struct steps {
    std::int64_t join = -1;
    std::int64_t signal = -1;
    std::int64_t leave = -1;
    bool first = false;  // nothing was known of that place
  };

  // A place has told its position.
  [[nodiscard]] steps on_position(int place, std::int64_t at) {
    steps todo;
    const auto [found, first] = replicas_.try_emplace(place);
    todo.first = first;
    const std::int64_t was = std::exchange(found->second.at, at);
    if (at == was) {  // of a place where all only wait
    } else if (at == phase_uplink::silent) {
      todo.leave = was;
    } else if (was == phase_uplink::silent) {
      todo.join = at;
    } else if (at == was + 1) {
      todo.signal = was;
    } else {
      todo.join = at;  // first: it is a signaller without a break
      todo.leave = was;
    }
    return todo;
  }

  // The place has no replica any more. Returns what is left of its position.
  [[nodiscard]] steps on_gone(int place) {
    const auto found = replicas_.find(place);
    APGAS_ASSERT(found != replicas_.end(), "a place left a clock that it was not at");
    steps todo;
    todo.leave = found->second.at;
    replicas_.erase(found);
    return todo;
  }

  // Phases before `phase` are over: tell(place) for each that does not know it yet.
  template <class Tell>
  void on_phase(std::int64_t phase, Tell tell) {
    for (auto& [place, r] : replicas_) {
      if (r.released >= phase) continue;
      r.released = phase;
      tell(place);
    }
  }

  // An acknowledgement says the phase as well.
  void on_told(int place, std::int64_t phase) noexcept { replicas_.at(place).released = phase; }

  const std::map<int, replica>& replicas() const noexcept { return replicas_; }

 private:
  std::map<int, replica> replicas_;  // by place
};

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A slab at each place. A message is a task at the other place that writes it into an inbox, a
// synchronisation variable; the place waits until its inboxes are full.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "comd/one_place.hpp"
#include "comd/run_slab.hpp"

namespace comd {

// The messages for a place. The two kinds of messages alternate, and a place sends one only after
// it has received the one before from both neighbours. So a neighbour has emptied its inbox before
// the next message of that kind comes, and no message overtakes another.
struct inboxes {
  std::array<apgas::sync_var<std::vector<leaver>>, 2> leavers;
  std::array<apgas::sync_var<std::vector<double>>, 2> boundaries;

  apgas::sync_var<std::vector<leaver>>& of(side from, const leaver&) { return leavers[from]; }
  apgas::sync_var<std::vector<double>>& of(side from, double) { return boundaries[from]; }
};

class over_places : public by_forall {
 public:
  explicit over_places(apgas::place_local<inboxes> boxes) : boxes_(boxes) {}

  template <class T>
  both_sides<T> exchange(both_sides<T> out) const {
    const int n = apgas::num_places();
    if (n == 1) return exchange_with_itself(std::move(out));
    const int here = apgas::here().id();
    send(apgas::place((here + n - 1) % n), above, out[below]);
    send(apgas::place((here + 1) % n), below, out[above]);
    inboxes& mine = *boxes_;
    both_sides<T> in;
    for (const side s : {below, above}) in[s] = mine.of(s, T()).read_fe();
    return in;
  }

 private:
  // `from` is the side on which the receiver has this place.
  template <class T>
  void send(apgas::place to, side from, const std::vector<T>& message) const {
    apgas::async_at(
        to,
        [boxes = boxes_, from](std::vector<T> values) {
          boxes->of(from, T()).write_ef(std::move(values));
        },
        message);
  }

  apgas::place_local<inboxes> boxes_;
};

// Context: task; may suspend.
inline std::vector<slab_outcome> run_over_places(const problem& p) {
  const auto boxes = apgas::place_local<inboxes>::make(apgas::places(), [] { return inboxes(); });
  std::vector<apgas::future<slab_outcome>> running;
  for (const apgas::place at : apgas::places()) {
    running.push_back(apgas::async_future_at(at, [p, boxes] {
      over_places how(boxes);
      return run_slab(p, static_cast<std::size_t>(apgas::here().id()),
                      static_cast<std::size_t>(apgas::num_places()), how);
    }));
  }
  std::vector<slab_outcome> all;
  all.reserve(running.size());
  for (const auto& each : running) all.push_back(each.get());
  boxes.destroy();
  return all;
}

}  // namespace comd

// SPDX-License-Identifier: Apache-2.0
#include "imsuite/places.hpp"

namespace imsuite {

// A fast place is at most one sum ahead of a slow one, so two sets of parts are used alternately.
int over_places::total(int mine) {
  const std::size_t turn = totals_++ % 2;
  std::vector<int>& parts = mine_.parts[turn];
  parts[static_cast<std::size_t>(here_)] = mine;
  for (const apgas::place p : apgas::places()) {
    if (p.id() == here_) continue;
    apgas::clocked_async_at(
        p,
        [](offices there, std::size_t set, int from, int part) {
          there->parts[set][static_cast<std::size_t>(from)] = part;
        },
        all_, turn, here_, mine);
    ++messages_;
  }
  apgas::clock::advance_all();
  return std::accumulate(parts.begin(), parts.end(), 0);
}

void over_places::send_letters() {
  for (const apgas::place p : apgas::places()) {
    const letters waiting = mine_.outgoing[static_cast<std::size_t>(p.id())].take();
    if (waiting.empty()) continue;
    apgas::clocked_async_at(
        p,
        [](offices there, const letters& arrived) {
          apgas::atomic([&] { carry_out_all(arrived, there->kernel); });
        },
        all_, waiting);
    ++messages_;
  }
}

}  // namespace imsuite

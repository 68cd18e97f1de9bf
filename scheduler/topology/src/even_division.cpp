// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>

#include "even_division.hpp"

namespace apgas::inline v0::scheduler {

even_division::even_division(std::vector<pool> pools, std::vector<int> wanted)
    : pools_(std::move(pools)), wanted_(std::move(wanted)), held_(wanted_.size(), 0) {
  for (pool& each : pools_) hand_out(each, wanted_);
  if (pools_.size() > 1) even_out();
  const std::vector<int> all(held_.size(), unlimited);
  for (pool& each : pools_) hand_out(each, all);
}

// Hands out the processors that are left, each to the place that has the fewest.
void even_division::hand_out(pool& from, const std::vector<int>& most) {
  while (from.left > 0) {
    const std::size_t none = from.places.size();
    std::size_t chosen = none;
    int fewest = unlimited;
    for (std::size_t i = 0; i < from.places.size(); ++i) {
      const int held = held_[at(from.places[i])];
      if (held >= most[at(from.places[i])] || held >= fewest) continue;
      chosen = i;
      fewest = held;
    }
    if (chosen == none) return;
    ++from.given[chosen];
    ++held_[at(from.places[chosen])];
    --from.left;
  }
}

// An additional place temporarily holds the processors that no place of their pool wants, so that
// improve() moves them to places that can use them.
void even_division::even_out() {
  const int last = static_cast<int>(held_.size());
  held_.push_back(unlimited);
  wanted_.push_back(0);
  pools_of_.resize(held_.size());
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    pools_[p].places.push_back(last);
    pools_[p].given.push_back(pools_[p].left);
    for (const int place : pools_[p].places) pools_of_[at(place)].push_back(static_cast<int>(p));
  }
  while (improve()) {
  }
  for (pool& each : pools_) {
    each.left = each.given.back();
    each.given.pop_back();
    each.places.pop_back();
  }
  held_.pop_back();
}

bool even_division::improve() {
  const int least = std::ranges::min(held_);
  for (std::size_t place = 0; place < held_.size(); ++place) {
    if (held_[place] >= least + 2 && give_away(static_cast<int>(place))) return true;
  }
  return false;
}

// Searches breadth first for a place that wants more processors and has at least two fewer than
// `giver`, and moves one there. Returns whether there is such a place.
bool even_division::give_away(int giver) {
  std::vector<step> reached(held_.size());
  std::vector<bool> seen(pools_.size(), false);
  std::vector<int> queue = {giver};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const int from = queue[next];
    for (const int p : pools_of_[at(from)]) {
      if (seen[at(p)] || given(p, from) == 0) continue;
      seen[at(p)] = true;
      for (const int place : pools_[at(p)].places) {
        if (place == giver || reached[at(place)].from >= 0) continue;
        reached[at(place)] = {.pool = p, .from = from};
        queue.push_back(place);
        const int held = held_[at(place)];
        if (held > held_[at(giver)] - 2 || held >= wanted_[at(place)]) continue;
        move_along(reached, giver, place);
        return true;
      }
    }
  }
  return false;
}

void even_division::move_along(const std::vector<step>& reached, int giver, int taker) {
  --held_[at(giver)];
  ++held_[at(taker)];
  for (int place = taker; place != giver; place = reached[at(place)].from) {
    ++given(reached[at(place)].pool, place);
    --given(reached[at(place)].pool, reached[at(place)].from);
  }
}

int& even_division::given(int p, int place) {
  pool& of = pools_[at(p)];
  const auto index = std::ranges::lower_bound(of.places, place) - of.places.begin();
  return of.given[static_cast<std::size_t>(index)];
}

}  // namespace apgas::inline v0::scheduler

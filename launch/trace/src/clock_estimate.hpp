// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

// How far the clock of another place is from the one here, by Cristian's algorithm.
namespace apgas::inline v0::launch {

struct clock_estimate {
  std::int64_t offset_ns = 0;  // is added to a time of the other clock
  std::int64_t error_ns = 0;   // the greatest error of that
  std::int64_t read_ns = 0;    // when it was measured, by the other clock
};

// Reads the other clock by read_there() some times, and takes the reading with the shortest round
// trip. The other clock was read at some moment of that trip, so half of its time bounds the error.
template <class Here, class There>
clock_estimate estimate_clock(int round_trips, Here read_here, There read_there) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  clock_estimate estimate;
  for (int i = 0; i < round_trips; ++i) {
    const std::int64_t before = read_here();
    const std::int64_t there = read_there();
    const std::int64_t trip = read_here() - before;
    if (trip >= best) continue;
    best = trip;
    estimate = {
        .offset_ns = before + trip / 2 - there, .error_ns = (trip + 1) / 2, .read_ns = there};
  }
  return estimate;
}

}  // namespace apgas::inline v0::launch

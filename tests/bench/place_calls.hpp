// SPDX-License-Identifier: Apache-2.0
#pragma once

// What place_bench measures between place 0 and place 1, or within place 0 if it is the only one,
// which then stands for both. All functions are called by a task at place 0.

#include <cstddef>
#include <cstdint>

#include "harness.hpp"

namespace bench {

inline constexpr int most_workers = 64;  // of each place

// `rounds` round trips by `at`, with `bytes` bytes in each direction.
sample at_round_trips(std::size_t bytes, int rounds);

// The same with uninitialized_vector in place of std::vector, and by at_into with such a vector as
// its argument. at_into returns the argument, as the others do, or bytes of place 1, which never
// change.
sample uninitialized_round_trips(std::size_t bytes, int rounds);
sample at_into_round_trips(std::size_t bytes, int rounds);
sample at_into_exchanges(std::size_t bytes, int rounds);

// `rounds` times: async_future_at with a value of 8 bytes, whose result is awaited.
sample future_round_trips(int rounds);

// `rounds` times: a single async_at of 8 bytes to place 1, whose task sends one back. Nothing else
// is in transit, so delaying a message gains nothing. `waited` is set to the number of messages
// that were not sent at once.
sample lone_async_trips(int rounds, std::uint64_t& waited);

// `rounds` times: a finish over one empty remote task.
sample remote_finishes(int rounds);

// One finish over `tasks` remote tasks of 8 bytes each. The time ends with the finish.
struct one_way {
  sample time;
  std::uint64_t frames = 0;  // sent by both places; none if there is only one
  std::uint64_t messages = 0;
  std::uint64_t finish_messages = 0;  // of the finish protocol, included in `frames`
};
one_way one_way_tasks(int tasks);

// The share of a core that a place uses while all its tasks sleep or wait: the larger of the first
// two places, or the average of all if they are in one process.
double idle_share(double seconds, bool one_process);

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What place_bench measures between place 0 and place 1. All are called by a task at place 0.

#include <cstddef>
#include <cstdint>

#include "harness.hpp"

namespace bench {

// `rounds` round trips by `at`: so many bytes there and back.
sample at_round_trips(std::size_t bytes, int rounds);

// `rounds` times a lone async_at of 8 bytes there, whose task sends one back: nothing else is under
// way, so nothing is gained by waiting for more. `waited`: messages that did not go at once.
sample lone_async_trips(int rounds, std::uint64_t& waited);

// `rounds` times a finish over one empty remote task.
sample remote_finishes(int rounds);

// One finish over `tasks` remote tasks of 8 bytes each; the time ends when the finish does.
struct one_way {
  sample time;
  std::uint64_t frames = 0;  // sent by both places
  std::uint64_t messages = 0;
  std::uint64_t finish_messages = 0;  // of the finish protocol, within `frames`
};
one_way one_way_tasks(int tasks);

// The share of a core that a place needs while all its tasks sleep or wait, the larger of the two,
// or of both in one process the average.
double idle_share(double seconds, bool one_process);

}  // namespace bench

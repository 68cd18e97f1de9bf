// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include <apgas/scheduler/scheduler.hpp>

// How a task that waits in a collective polls before it suspends.
namespace apgas::inline v0::remote {

// A poll takes 50 ns. After polls_at_once of them the thread yields its core in between, since with
// more places than cores the message may come from a place that needs it. With four places on two
// cores, a barrier took 150 us with 50 polls, 50 us with 200, and 19 us with 1000, which is half a
// millisecond if no other thread wants the core.
inline constexpr int polls_at_once = 50;
inline constexpr std::chrono::microseconds longest_look{500};

inline bool nothing_else_ready(const scheduler::worker& w) noexcept {
  return w.tasks.empty() && w.ready.empty() && w.batch.empty();
}

// A task that never suspends would keep its worker from everything else.
// Context: task, before it waits in a collective.
inline void yield_now_and_then() {
  constexpr std::uint32_t waits_between_yields = 32;
  scheduler::worker& w = *scheduler::current_fiber()->on;
  if (++w.phases_in_a_row % waits_between_yields == 0) scheduler::yield_to_loop();
}

}  // namespace apgas::inline v0::remote

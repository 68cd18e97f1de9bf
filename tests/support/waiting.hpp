// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting in tests: for a condition that would stay false for ever if there were a defect. The
// deadline is much longer than even an overloaded host needs.

#include <chrono>

#include <sched.h>

#include <apgas/scheduler/worker.hpp>

namespace apgas::test {

inline constexpr std::chrono::seconds patience{30};

// Calls wait() repeatedly until condition() is true or the deadline has passed. Returns whether the
// condition became true.
template <class Condition, class Wait>
bool holds_soon(Condition condition, Wait wait) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    wait();
  }
  return true;
}

// The same; the task lets other tasks run meanwhile.
template <class Condition>
bool yields_until(Condition condition) {
  return holds_soon(condition, [] { scheduler::yield(); });
}

// The same; the worker stays busy, so only other workers can make the condition true.
template <class Condition>
bool spins_until(Condition condition) {
  return holds_soon(condition, [] { sched_yield(); });
}

// Returns the current worker. It is not inlined, because the compiler must not reuse an earlier
// result after a suspension.
[[gnu::noinline]] inline scheduler::worker* worker_now() { return scheduler::current_fiber()->on; }

}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting in tests: for a condition that a defect would leave false for ever, up to a deadline that
// is far beyond what a loaded machine needs.

#include <chrono>

#include <sched.h>

#include <apgas/scheduler/worker.hpp>

namespace apgas::test {

inline constexpr std::chrono::seconds patience{30};

// Turns with wait() until condition() or the deadline; whether the condition held.
template <class Condition, class Wait>
bool holds_soon(Condition condition, Wait wait) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    wait();
  }
  return true;
}

// The task lets others run meanwhile.
template <class Condition>
bool yields_until(Condition condition) {
  return holds_soon(condition, [] { scheduler::yield(); });
}

// The worker stays busy: only other workers can make the condition true.
template <class Condition>
bool spins_until(Condition condition) {
  return holds_soon(condition, [] { sched_yield(); });
}

// Not inlined: the compiler must not keep the answer across a suspension.
[[gnu::noinline]] inline scheduler::worker* worker_now() { return scheduler::current_fiber()->on; }

}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <apgas/scheduler/scheduler.hpp>

// Converts the duration or the time that a user gives to a timed wait into the time at which its
// timer fires. With a seeded schedule, timers and durations are those of its virtual time.
namespace apgas::inline v0::sync {

using deadline = std::chrono::steady_clock::time_point;

// Returns the current time plus d, rounded up to the resolution of the clock. A duration of zero or
// less gives the current time; one of more than a century, or one that is not a number, gives a
// century from now. Context: any thread.
template <class Rep, class Period>
deadline deadline_in(const std::chrono::duration<Rep, Period>& d) {
  using seconds = std::chrono::duration<double>;
  constexpr std::chrono::hours century(24 * 36525);
  const deadline now = scheduler::time_of_task();
  if (!(seconds(d) < seconds(century))) return now + century;  // true for NaN as well
  if (!(d > d.zero())) return now;
  return now + std::chrono::ceil<deadline::duration>(d);
}

// Returns the deadline that corresponds to the time t of any clock, as it runs now. A time that has
// passed gives deadline::min(). Context: any thread.
template <class Clock, class Duration>
deadline deadline_at(const std::chrono::time_point<Clock, Duration>& t) {
  const auto now = Clock::now();
  return t > now ? deadline_in(t - now) : deadline::min();
}

// Calls attempt(deadline), which waits until that deadline at the latest and returns whether it
// succeeded, for the time t of any clock. If the clock is set back meanwhile, it waits again for
// the rest. Returns whether an attempt succeeded. In virtual time there is only one attempt.
// Context: as attempt.
template <class Clock, class Duration, class Attempt>
bool attempt_until(const std::chrono::time_point<Clock, Duration>& t, Attempt attempt) {
  do {
    if (attempt(deadline_at(t))) return true;
  } while (!scheduler::has_virtual_time() && Clock::now() < t);
  return false;
}

}  // namespace apgas::inline v0::sync

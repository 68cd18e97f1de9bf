// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

// Converts the duration that a user gives to a timed wait into the time at which its timer fires.
namespace apgas::inline v0::sync {

using deadline = std::chrono::steady_clock::time_point;

// Returns the current time plus d, rounded up to the resolution of the clock. A duration of zero or
// less gives the current time; one of more than a century, or one that is not a number, gives a
// century from now. Context: any thread.
template <class Rep, class Period>
deadline deadline_in(const std::chrono::duration<Rep, Period>& d) {
  using seconds = std::chrono::duration<double>;
  constexpr std::chrono::hours century(24 * 36525);
  const deadline now = std::chrono::steady_clock::now();
  if (!(seconds(d) < seconds(century))) return now + century;  // true for NaN as well
  if (!(d > d.zero())) return now;
  return now + std::chrono::ceil<deadline::duration>(d);
}

}  // namespace apgas::inline v0::sync

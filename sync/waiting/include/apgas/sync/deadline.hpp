// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

// From the durations of a user to the time of a timer.
namespace apgas::inline v0::sync {

using deadline = std::chrono::steady_clock::time_point;

// Now plus d, rounded up; what is beyond a century is that far away. Context: any thread.
template <class Rep, class Period>
deadline deadline_in(const std::chrono::duration<Rep, Period>& d) {
  using seconds = std::chrono::duration<double>;
  constexpr std::chrono::hours century(24 * 36525);
  const deadline now = std::chrono::steady_clock::now();
  if (!(seconds(d) < seconds(century))) return now + century;  // also what is not a number
  if (!(d > d.zero())) return now;
  return now + std::chrono::ceil<deadline::duration>(d);
}

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace apgas::inline v0::base {

// Returns the time in processor cycles since some moment in the past; an estimate from the clock if
// this is not x86.
// Cost: about 10 ns.
inline std::uint64_t cycles() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) *
         3;
#endif
}

// The same, read after all earlier loads of the thread: not before a time that another thread had
// read before it wrote what this one has seen. A processor may execute cycles() before them.
// Cost: about 10 ns, and what earlier loads still take.
inline std::uint64_t cycles_after_loads() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#endif
  return cycles();
}

}  // namespace apgas::inline v0::base

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_phases.hpp>

#include "check.hpp"

// How many messages the clocks and phasers of all places have sent.
namespace test {

using phase_counts = apgas::sync::remote_phases::counts;

inline phase_counts phase_counts_of(apgas::place p) {
  return apgas::at(
      p, [] { return apgas::sync::place_of(*apgas::scheduler::current_fiber()).phases->count(); });
}

inline std::vector<phase_counts> all_phase_counts() {
  std::vector<phase_counts> all;
  for (apgas::place p : apgas::places()) all.push_back(phase_counts_of(p));
  return all;
}

// Expects that no clock or phaser is left at any place, as soon as the last messages have arrived.
inline void expect_no_clocks_left() {
  std::uint64_t left = 1;
  for (int i = 0; i < 2000 && left != 0; ++i) {
    left = 0;
    for (const phase_counts& c : all_phase_counts()) left += c.replicas + c.homes;
    if (left != 0) apgas::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(left, 0U);
}

}  // namespace test

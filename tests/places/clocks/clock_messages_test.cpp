// SPDX-License-Identifier: Apache-2.0
// The messages of a phase between places: one arrival and one release for each other place that has
// registered tasks, however many tasks these are.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <gtest/gtest.h>

#include "check.hpp"
#include "phase_counts.hpp"

namespace {

using apgas::async_at;
using apgas::clock;
using apgas::clocked;
using apgas::place;
using test::check;
using test::phase_counts;

phase_counts here_now() {
  return apgas::sync::place_of(*apgas::scheduler::current_fiber()).phases->count();
}

// Waits until this place has sent so many releases: an advance may return before the last of them
// is counted. Returns the counts then.
phase_counts with_releases(std::uint64_t releases) {
  while (here_now().releases < releases) apgas::yield();
  return here_now();
}

constexpr int phases = 100;

TEST(clock_messages, one_arrival_and_one_release_for_each_place_and_phase) {
  for (const int tasks : {1, 20}) {
    apgas::finish([tasks] {
      const auto c = clock::make();
      for (place p : apgas::places()) {
        if (p == apgas::here()) continue;
        async_at(
            p, clocked(c),
            [](clock own, int n) {
              for (int i = 1; i < n; ++i) {
                apgas::async(clocked(own), [own] {
                  for (int k = 0; k < phases + 2; ++k) own.advance();
                });
              }
              own.advance();
              const phase_counts before = here_now();
              for (int k = 0; k < phases; ++k) own.advance();
              const phase_counts after = here_now();
              // This task has not signalled yet, so no message is in flight.
              check(after.arrivals - before.arrivals == phases);
              check(after.positions == before.positions && after.arrived == before.arrived);
              own.advance();
            },
            c, tasks);
      }
      const auto others = static_cast<std::uint64_t>(apgas::num_places() - 1);
      const std::uint64_t earlier = here_now().releases;
      c.advance();
      const phase_counts before = with_releases(earlier + others);
      for (int k = 0; k < phases; ++k) c.advance();
      const phase_counts after = with_releases(before.releases + others * phases);
      EXPECT_EQ(after.releases - before.releases, others * phases);
      EXPECT_EQ(after.acknowledgements, before.acknowledgements);
      EXPECT_EQ(after.arrived, before.arrived);
      c.advance();
    });
  }
  test::expect_no_clocks_left();
}

// A round trip of an at by a registered task, from the home.
TEST(clock_messages, an_at_of_a_registered_task_costs_few_messages) {
  if (apgas::num_places() == 1) return;
  const auto before = test::all_phase_counts();
  constexpr int times = 50;
  const auto c = clock::make();
  for (int i = 0; i < times; ++i) {
    apgas::at(test::last(), [](clock own) { own.advance(); }, c);
  }
  c.drop();
  test::expect_no_clocks_left();
  const auto after = test::all_phase_counts();
  phase_counts sum;
  for (std::size_t i = 0; i < after.size(); ++i) {
    sum.arrivals += after[i].arrivals - before[i].arrivals;
    sum.positions += after[i].positions - before[i].positions;
    sum.gone += after[i].gone - before[i].gone;
    sum.releases += after[i].releases - before[i].releases;
    sum.acknowledgements += after[i].acknowledgements - before[i].acknowledgements;
    sum.arrived += after[i].arrived - before[i].arrived;
  }
  std::printf(
      "%d at with a phase each: %lu positions, %lu arrivals, %lu gone, %lu releases, %lu "
      "acknowledgements, %lu arrived\n",
      times, sum.positions, sum.arrivals, sum.gone, sum.releases, sum.acknowledgements,
      sum.arrived);
  EXPECT_EQ(sum.arrived, 2U * times);
  EXPECT_LE(sum.arrivals, 1U * times);
  EXPECT_LE(sum.positions + sum.gone + sum.acknowledgements, 3U * times);
}

// A program pays for clocks only where it uses them.
TEST(clock_messages, an_at_without_registrations_costs_no_extra_message) {
  const auto before = test::all_phase_counts();
  for (int i = 0; i < 50; ++i) {
    apgas::at(test::last(), [] {
      const auto own = clock::make();
      own.drop();
    });
  }
  const auto after = test::all_phase_counts();
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].arrived, before[i].arrived);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Simulates the waves that find a deadlock: every order of few places and frames, random orders of
// more, and injected faults.
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "sim_deadlock.hpp"
#include "sim_runs.hpp"

namespace {

using sim::deadlock_fault;
using sim::deadlock_world;

std::string run_random(std::uint64_t seed, deadlock_fault f) {
  sim::random_choice chooser(seed);
  // Small programs, in which the waves fall into the end, see most faults; large ones the others.
  const bool small = seed % 2 == 0;
  const int places = small ? 3 : 1 + static_cast<int>(chooser.below(6));
  const int frames = static_cast<int>(chooser.below(small ? 4 : 30));
  const int timers = static_cast<int>(chooser.below(small ? 2 : 4));
  return deadlock_world(places, frames, timers, small ? 3 : 20, f).run(chooser);
}

TEST(deadlock_of_a_job, every_order_of_few_places) {
  sim::totals sum;
  for (const auto& [frames, timers, waves] :
       {std::tuple(0, 1, 2), std::tuple(1, 0, 2), std::tuple(1, 1, 2)}) {
    const std::string wrong = sim::every_order(sum, [&](auto& c) {
      return deadlock_world(2, frames, timers, waves, deadlock_fault::none).run(c);
    });
    EXPECT_EQ(wrong, "") << frames << " frames, " << timers << " timers, " << waves << " waves";
  }
  EXPECT_EQ(sum.programs, 3u);
  std::cout << sum << std::endl;
}

TEST(deadlock_of_a_job, random_orders) {
  const sim::seeds_wanted seeds(20'000);
  EXPECT_EQ(sim::first_wrong_seed(seeds.first, seeds.last,
                                  [](auto seed) { return run_random(seed, deadlock_fault::none); }),
            "");
}

TEST(deadlock_of_a_job, every_fault_is_seen) {
  sim::expect_every_fault_seen<deadlock_fault>([](deadlock_fault f) {
    return sim::first_wrong_seed(1, 100'000, [f](auto s) { return run_random(s, f); });
  });
}

// A deadlock that is there from the beginning takes two waves, whatever came before.
TEST(deadlock_of_a_job, an_abandoned_wave_does_not_count) {
  apgas::launch::deadlock_waves waves(2);
  using result = apgas::launch::deadlock_waves::result;
  const apgas::launch::place_answer still{.still = true, .activity = 1, .sent = 1, .received = 1};
  const auto complete = [&] {
    const std::uint32_t wave = waves.begin();
    EXPECT_EQ(waves.on_answer(0, wave, still), result::none);
    EXPECT_EQ(waves.on_answer(0, wave, still), result::none) << "twice";
    return waves.on_answer(1, wave, still);
  };
  EXPECT_EQ(complete(), result::repeat);
  const std::uint32_t abandoned = waves.begin();
  EXPECT_EQ(waves.on_answer(0, abandoned, still), result::none);
  const std::uint32_t next = waves.begin();
  EXPECT_EQ(waves.on_answer(1, abandoned, still), result::none) << "it comes too late";
  EXPECT_FALSE(waves.has_answered(1));
  EXPECT_EQ(waves.on_answer(1, next, still), result::none);
  EXPECT_TRUE(waves.has_answered(1));
  EXPECT_EQ(complete(), result::repeat) << "the wave before was abandoned";
  EXPECT_EQ(complete(), result::deadlock);
}

}  // namespace

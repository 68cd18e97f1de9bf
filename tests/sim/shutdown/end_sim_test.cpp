// SPDX-License-Identifier: Apache-2.0
// Simulates the end of a run: every order of few places and messages, random orders of many, and
// injected faults.
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "sim_end.hpp"
#include "sim_runs.hpp"

namespace {

using sim::end_fault;
using sim::end_world;

std::string run_random(std::uint64_t seed, end_fault f) {
  sim::random_choice chooser(seed);
  const int places = 1 + static_cast<int>(chooser.below(40));
  const int extras = static_cast<int>(chooser.below(60));
  return end_world(places, extras, f).run(chooser);
}

TEST(end_of_a_run, every_order_of_few_places) {
  sim::totals sum;
  for (const auto& [places, extras] : {std::pair(1, 3), std::pair(2, 3), std::pair(3, 2)}) {
    const std::string wrong = sim::every_order(
        sum, [places, extras](auto& c) { return end_world(places, extras).run(c); });
    EXPECT_EQ(wrong, "") << places << " places, " << extras << " messages";
  }
  EXPECT_EQ(sum.programs, 3u);
  std::cout << sum << std::endl;
}

TEST(end_of_a_run, random_orders) {
  const sim::seeds_wanted seeds(5'000);
  EXPECT_EQ(sim::first_wrong_seed(seeds.first, seeds.last,
                                  [](auto seed) { return run_random(seed, end_fault::none); }),
            "");
}

TEST(end_of_a_run, every_fault_is_seen) {
  sim::expect_every_fault_seen<end_fault>([](end_fault f) {
    return sim::first_wrong_seed(1, 200, [f](auto s) { return run_random(s, f); });
  });
}

TEST(end_of_a_run, a_thousand_places_in_rounds) {
  end_world world(1'000, 0);
  EXPECT_EQ(world.run_in_rounds(), 4);  // 8, 64, 512 and the rest
  EXPECT_EQ(world.wrong(), "");
  EXPECT_TRUE(world.all_over());
  EXPECT_EQ(world.tells(), 999);
  EXPECT_EQ(world.tells_by(0), 8);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 Runs random programs over many places with random delivery,
// also with faults in the state machines.
//   APGAS_TEST_SEED=n    runs one seed
//   APGAS_TEST_SEEDS=n   runs n seeds (default 20000)
#include <cstdint>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "sim_finish_random.hpp"
#include "sim_runs.hpp"

namespace {

using sim::counters;
using sim::fault;

void add(counters& sum, const counters& one) {
  sum.steps += one.steps;
  sum.tasks += one.tasks;
  sum.finishes += one.finishes;
  sum.frames += one.frames;
  sum.returns += one.returns;
  sum.reply_returns += one.reply_returns;
  sum.requests += one.requests;
  sum.releases += one.releases;
  sum.overtakings += one.overtakings;
  sum.revivals += one.revivals;
}

std::ostream& operator<<(std::ostream& out, const counters& c) {
  return out << c.steps << " steps, " << c.tasks << " tasks, " << c.finishes << " finishes, "
             << c.frames << " frames, " << c.returns << " returns, " << c.reply_returns
             << " in replies, " << c.requests << " requests, " << c.releases << " releases, "
             << c.overtakings << " overtakings, " << c.revivals << " revivals";
}

TEST(finish_sim, random_programs) {
  const sim::seeds_wanted seeds(20'000);
  counters sum;
  const auto run = [&sum](std::uint64_t seed) {
    counters one;
    const std::string wrong = sim::run_seed(seed, fault::none, &one);
    add(sum, one);
    return wrong;
  };
  ASSERT_EQ(sim::first_wrong_seed(seeds.first, seeds.last, run), "")
      << "APGAS_TEST_SEED repeats it";
  std::cout << seeds.count() << " seeds: " << sum << '\n';
  if (seeds.only != 0) return;
  // The runs met what the protocol is there for.
  // The runs met the situations that the protocol exists for.
  EXPECT_GT(sum.frames, sum.tasks / 4);
  EXPECT_GT(sum.finishes, 0);
  EXPECT_GT(sum.reply_returns, 0);
  EXPECT_GT(sum.requests, 0);
  EXPECT_GT(sum.releases, 0);
  EXPECT_GT(sum.overtakings, 0);
  EXPECT_GT(sum.revivals, 0);
}

sim::settings large(int places) {
  sim::settings s;
  s.places = places;
  s.check_every = 50'000;
  return s;
}

TEST(finish_sim, a_thousand_places) {
  for (const std::uint64_t share : {apgas::sync::full_share, std::uint64_t{1} << 20}) {
    sim::settings s = large(1000);
    s.share = share;
    sim::random_script program({.places = 1000, .tasks = 60'000, .finishes = 300, .stop = 0.05}, 7);
    sim::random_choice chooser(share);
    counters c;
    ASSERT_EQ(sim::run(s, program, chooser, &c), "");
    EXPECT_EQ(c.tasks, 60'000);
    std::cout << "1000 places: " << c << '\n';
  }
}

TEST(finish_sim, a_tree_over_four_thousand_places) {
  constexpr int places = 4095;
  sim::tree_script program;
  for (int p = 1; p < places; ++p) program.add((p - 1) / 2, p);
  sim::random_choice chooser(11);
  counters c;
  ASSERT_EQ(sim::run(large(places), program, chooser, &c), "");
  EXPECT_EQ(c.frames, places - 1);
  EXPECT_EQ(c.returns, places - 1);
  EXPECT_EQ(c.requests, 0);
}

// The checker must detect every fault, soon, before an assertion of the state machines ends the
// process.
TEST(finish_sim, every_fault_is_seen) {
  sim::expect_every_fault_seen<fault>([](fault f) {
    const auto run = [f](std::uint64_t seed) { return sim::run_seed(seed, f); };
    return sim::first_wrong_seed(1, 20'000, run);
  });
}

}  // namespace

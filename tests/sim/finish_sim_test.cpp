// SPDX-License-Identifier: Apache-2.0
// Random programs over many places with random delivery, and machines that are wrong on purpose.
//   APGAS_TEST_SEED=n    runs that seed alone
//   APGAS_TEST_SEEDS=n   runs n seeds (default 20000)
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "sim_finish_random.hpp"

namespace {

using sim::counters;
using sim::fault;

std::uint64_t from_environment(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

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
  const std::uint64_t only = from_environment("APGAS_TEST_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t last = only != 0 ? only : from_environment("APGAS_TEST_SEEDS", 20000);
  counters sum;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    counters one;
    const std::string wrong = sim::run_seed(seed, fault::none, &one);
    ASSERT_EQ(wrong, "") << "replay with APGAS_TEST_SEED=" << seed;
    add(sum, one);
  }
  std::cout << last - first + 1 << " seeds: " << sum << '\n';
  if (only != 0) return;
  // The runs met what the protocol is there for.
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

// A fault must be seen by the checker, soon, and by itself: no assertion of the machines ends the
// process first.
TEST(finish_sim, every_fault_is_seen) {
  for (int i = 1; i < static_cast<int>(fault::last); ++i) {
    const auto f = static_cast<fault>(i);
    std::string seen;
    std::uint64_t seed = 0;
    while (seen.empty() && seed < 20000) seen = sim::run_seed(++seed, f);
    EXPECT_NE(seen, "") << sim::name(f) << " was not seen in " << seed << " seeds";
    std::cout << sim::name(f) << ": seed " << seed << ": " << seen << '\n';
  }
}

}  // namespace

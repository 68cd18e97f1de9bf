// SPDX-License-Identifier: Apache-2.0
// The work-stealing protocol of glb over many places, with messages in any order. APGAS_TEST_SEED=n
// runs one seed, APGAS_TEST_SEEDS=n the first n.
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_glb_world.hpp"
#include "sim_runs.hpp"

namespace {

using apgas::remote::lifeline_graph;
using glb_sim::counters;
using glb_sim::fault;
using glb_sim::settings;

// ---- the graph

std::vector<int> lifelines_of(const lifeline_graph& g, int p) {
  std::vector<int> all;
  g.for_each_lifeline(p, [&](int q) { all.push_back(q); });
  return all;
}

// How many places can be reached from p along lifelines.
std::size_t reached_from(const lifeline_graph& g, int p) {
  std::set<int> seen = {p};
  std::vector<int> left = {p};
  while (!left.empty()) {
    const int q = left.back();
    left.pop_back();
    for (const int next : lifelines_of(g, q)) {
      if (seen.insert(next).second) left.push_back(next);
    }
  }
  return seen.size();
}

TEST(lifeline_graph, connects_every_place_to_every_other) {
  for (const int radix : {2, 3, 4, 32}) {
    for (int places = 1; places <= 70; ++places) {
      const lifeline_graph g(places, radix);
      for (int p = 0; p < places; ++p) {
        ASSERT_EQ(reached_from(g, p), static_cast<std::size_t>(places)) << p << ", radix " << radix;
      }
    }
  }
}

TEST(lifeline_graph, inverse_lifelines_are_the_reverse) {
  for (const int radix : {2, 3, 5, 32}) {
    for (int places = 1; places <= 70; ++places) {
      const lifeline_graph g(places, radix);
      std::multiset<std::pair<int, int>> out;
      std::multiset<std::pair<int, int>> in;
      for (int p = 0; p < places; ++p) {
        g.for_each_lifeline(p, [&](int q) { out.emplace(p, q); });
        g.for_each_inverse_lifeline(p, [&](int q) { in.emplace(q, p); });
        ASSERT_FALSE(out.contains({p, p}));
      }
      ASSERT_EQ(out, in);
      ASSERT_EQ(std::set(out.begin(), out.end()).size(), out.size()) << "a lifeline occurs twice";
    }
  }
}

TEST(lifeline_graph, has_one_lifeline_for_each_digit) {
  EXPECT_EQ(lifelines_of(lifeline_graph(8, 2), 5), (std::vector<int>{4, 7, 1}));
  EXPECT_EQ(lifelines_of(lifeline_graph(100'000, 2), 0).size(), 17U);
  EXPECT_EQ(lifelines_of(lifeline_graph(100'000, 2), 77'777).size(), 16U);  // no place 110,545
  EXPECT_EQ(lifelines_of(lifeline_graph(2'000'000'000, 32), 1'999'999'999).size(), 7U);
  EXPECT_EQ(lifelines_of(lifeline_graph(5, 100), 3), (std::vector<int>{4}));
  EXPECT_TRUE(lifelines_of(lifeline_graph(1, 2), 0).empty());
}

// ---- the protocol

std::string run_seed(std::uint64_t seed, fault f, counters* out = nullptr) {
  apgas::base::random_engine pick(seed);
  settings s;
  s.places = 1 + static_cast<int>(pick.below(12));
  s.height = static_cast<int>(pick.below(9));
  s.spine = pick.below(3) == 0 ? pick.below(100) : 0;
  s.shape = {.random_victims = static_cast<int>(pick.below(3)),
             .radix = 2 + static_cast<int>(pick.below(3)),
             .seed = pick()};
  s.broken = f;
  s.most_steps = 1'000'000;
  sim::random_choice chooser(pick());
  return glb_sim::run(s, chooser, out);
}

TEST(glb_sim, random_runs) {
  const sim::seeds_wanted seeds(3'000);
  counters sum;
  const auto run = [&sum](std::uint64_t seed) {
    counters one;
    const std::string wrong = run_seed(seed, fault::none, &one);
    sum.steps += one.steps;
    sum.asks += one.asks;
    sum.lifeline_loot += one.lifeline_loot;
    sum.answers_with_work += one.answers_with_work;
    sum.early_loot += one.early_loot;
    return wrong;
  };
  ASSERT_EQ(sim::first_wrong_seed(seeds.first, seeds.last, run), "")
      << "APGAS_TEST_SEED=<seed> repeats the run";
  std::cout << seeds.count() << " seeds: " << sum.steps << " steps, " << sum.asks
            << " steal requests, " << sum.answers_with_work << " answered with loot, "
            << sum.lifeline_loot << " sends through lifelines, " << sum.early_loot
            << " of them before the reply\n";
  if (seeds.only != 0) return;
  EXPECT_GT(sum.lifeline_loot, 0);
  EXPECT_GT(sum.answers_with_work, 0);
  EXPECT_GT(sum.early_loot, 0);
}

TEST(glb_sim, a_thousand_places) {
  settings s;
  s.places = 1000;
  s.height = 14;
  s.spine = 200;
  s.check_every = 10'000;
  sim::random_choice chooser(3);
  counters c;
  ASSERT_EQ(glb_sim::run(s, chooser, &c), "");
  EXPECT_GT(c.lifeline_loot, 500);
}

std::string every_order(fault f, sim::totals& sum) {
  for (const int places : {2, 3, 4}) {
    for (const int random_victims : {0, 1}) {
      settings s;
      s.places = places;
      s.height = places == 2 ? 3 : 2;
      s.shape.random_victims = random_victims;
      s.broken = f;
      const std::string wrong =
          sim::every_order(sum, [&s](sim::choice& c) { return glb_sim::run(s, c); });
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

TEST(glb_sim, every_order_of_small_trees) {
  sim::totals sum;
  EXPECT_EQ(every_order(fault::none, sum), "");
  std::cout << sum << '\n';
}

TEST(glb_sim, every_fault_is_seen) {
  sim::expect_every_fault_seen<fault>([](fault f) {
    const auto run = [f](std::uint64_t seed) { return run_seed(seed, f); };
    return sim::first_wrong_seed(1, 3'000, run);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 Counts the messages that a finish costs for programs of
// several shapes, and prints them as a table.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "sim_finish_world.hpp"

namespace {

using sim::counters;
using sim::op;

counters simulate(const std::string& shape, int places, sim::tree_script program,
                  sim::schedule order = sim::schedule::messages_first, bool lazy = false) {
  sim::settings s;
  s.places = places;
  s.order = order;
  s.lazy_returns = lazy;
  s.late_reports = false;
  s.check_every = 1000;
  sim::random_choice chooser(3);
  counters c;
  EXPECT_EQ(sim::run(s, program, chooser, &c), "") << shape;
  std::cout << std::left << std::setw(52) << shape << std::right << std::setw(8) << c.tasks
            << std::setw(8) << c.frames << std::setw(9) << c.returns << std::setw(9)
            << c.reply_returns << std::setw(9) << c.requests << '\n';
  return c;
}

class finish_messages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::cout << std::left << std::setw(52) << "shape" << std::right << std::setw(8) << "tasks"
              << std::setw(8) << "frames" << std::setw(9) << "returns" << std::setw(9) << "in reply"
              << std::setw(9) << "requests" << '\n';
  }
};

// Each place returns once, whatever k is.
TEST_F(finish_messages, one_return_per_place_and_quiescence) {
  constexpr int places = 64;
  for (const int k : {1, 10, 1000}) {
    sim::tree_script program;
    for (int i = 0; i < k; ++i) {
      for (int p = 1; p < places; ++p) program.add(0, p);
    }
    const counters c = simulate("home sends " + std::to_string(k) + " tasks to each of 63 places",
                                places, program);
    EXPECT_EQ(c.frames, k * (places - 1));
    EXPECT_EQ(c.returns, places - 1);
    EXPECT_EQ(c.quiescences, places - 1);
    EXPECT_EQ(c.requests, 0);
  }
}

TEST_F(finish_messages, local_tasks_at_remote_places_are_free) {
  constexpr int places = 64;
  sim::tree_script program;
  for (int p = 1; p < places; ++p) {
    const int there = program.add(0, p);
    for (int i = 0; i < 1000; ++i) program.add(there, p);
  }
  const counters c = simulate("63 places, each spawns 1000 local tasks", places, program);
  EXPECT_EQ(c.frames, places - 1);
  EXPECT_EQ(c.returns, places - 1);
}

// In any order, a place can become idle between two arrivals, but it never returns more often.
TEST_F(finish_messages, a_place_may_be_idle_between_arrivals) {
  sim::tree_script program;
  for (int i = 0; i < 1000; ++i) {
    for (int p = 1; p < 8; ++p) program.add(0, p);
  }
  const counters c =
      simulate("home sends 1000 to each of 7, any order", 8, program, sim::schedule::any);
  EXPECT_EQ(c.returns, c.quiescences);
  EXPECT_LE(c.returns, c.frames);
  EXPECT_GE(c.returns, 7);
  const counters lazy = simulate("the same, places wait a little before they return", 8, program,
                                 sim::schedule::any, true);
  EXPECT_LT(lazy.returns, c.returns * 2 / 3);
}

TEST_F(finish_messages, binary_tree) {
  constexpr int places = 1023;
  sim::tree_script program;
  for (int p = 1; p < places; ++p) program.add((p - 1) / 2, p);
  const counters c = simulate("binary tree over 1023 places", places, program);
  EXPECT_EQ(c.returns, places - 1);
  EXPECT_EQ(c.requests, 0);
}

TEST_F(finish_messages, every_place_sends_to_every_other) {
  constexpr int places = 64;
  sim::tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p);  // tree node p is at place p
  for (int p = 1; p < places; ++p) {
    for (int q = 1; q < places; ++q) {
      if (q != p) program.add(p, q);
    }
  }
  const counters c = simulate("63 places, each sends to all others", places, program);
  EXPECT_EQ(c.frames, 63 + 63 * 62);
  EXPECT_EQ(c.returns, c.quiescences);
  EXPECT_LE(c.returns, 2 * 63);
  EXPECT_EQ(c.requests, 0);
}

// A chain halves its credit at each hop, so a full share lasts for 62 hops.
TEST_F(finish_messages, a_chain_asks_every_62_hops) {
  constexpr int hops = 6200;
  sim::tree_script program;
  int task = 0;
  for (int i = 0; i < hops; ++i) task = program.add(task, 1 + i % 7);
  const counters c = simulate("chain of 6200 hops over 7 places", 8, program);
  EXPECT_EQ(c.frames, hops);
  EXPECT_EQ(c.returns, hops);
  EXPECT_EQ(c.requests, (hops - 1) / 62);
}

TEST_F(finish_messages, at_carries_the_credit_in_its_reply) {
  sim::tree_script program;
  const int there = program.add(0, 1);
  for (int i = 0; i < 1000; ++i) program.add(there, 2, op::at);
  for (int i = 0; i < 1000; ++i) program.add(0, 3, op::at);
  const counters c = simulate("1000 at from home, 1000 at from a place", 4, program);
  EXPECT_EQ(c.reply_returns, 2000);
  EXPECT_EQ(c.returns, 1);
  EXPECT_EQ(c.requests, 0);
}

TEST_F(finish_messages, remote_tasks_that_come_home) {
  sim::tree_script program;
  const int there = program.add(0, 1);
  for (int i = 0; i < 1000; ++i) program.add(there, 0);
  const counters c = simulate("one place sends 1000 tasks home", 2, program);
  EXPECT_EQ(c.returns, 1);
  EXPECT_EQ(c.requests, 0);
}

TEST_F(finish_messages, a_long_fan_out_does_not_ask) {
  sim::tree_script program;
  const int there = program.add(0, 1);
  for (int i = 0; i < 100'000; ++i) program.add(there, 2 + i % 6);
  const counters c = simulate("a remote place sends 100,000 tasks", 8, program);
  EXPECT_EQ(c.returns, 7);
  EXPECT_EQ(c.requests, 0);
}

}  // namespace

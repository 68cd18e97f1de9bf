// SPDX-License-Identifier: Apache-2.0
// Every program of three tasks on one clock or phaser, in every order of their steps.
//   APGAS_TEST_STRIDE=n   takes every n-th of these programs only (default 1), for slow builds
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_phase_world.hpp"
#include "sim_runs.hpp"

namespace {

using apgas::phaser_mode;
using phase_sim::action;
using phase_sim::fault;
using phase_sim::op;
using sim::totals;
using program = std::vector<std::vector<action>>;

struct program_space {
  std::vector<op> ops;             // what a task may do before, between and after it spawns
  std::vector<phaser_mode> modes;  // of the children
};

// The n-th program of a space as digits of n; false when n is past the last. Main spawns child 1,
// and main or child 1 spawns child 2.
bool make(const program_space& space, std::uint64_t n, program& tasks) {
  sim::digits digit(n);
  const bool by_main = digit.next(2) == 0;
  const phaser_mode first = space.modes[digit.next(space.modes.size())];
  const phaser_mode second = space.modes[digit.next(space.modes.size())];
  tasks.assign(3, {});
  const auto does = [&](std::size_t task) {
    const std::size_t d = digit.next(space.ops.size() + 1);
    if (d != 0) tasks[task].push_back({space.ops[d - 1]});
  };
  does(0);
  tasks[0].push_back({op::spawn, 1, first});
  if (by_main) tasks[0].push_back({op::spawn, 2, second});
  does(0);
  does(1);
  const bool may = first == phaser_mode::signal_wait || first == phaser_mode::signal_wait_next;
  if (!by_main) tasks[1].push_back({op::spawn, 2, may ? second : first});
  does(1);
  does(2);
  does(2);
  return digit.used_up();
}

std::string text(const program& tasks) {
  static constexpr std::array words{"-",      "next", "resume", "wait",
                                    "single", "drop", "spawn",  "end"};
  std::string all;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    all.append(" ").append(std::to_string(t)).append(":");
    for (const action& a : tasks[t]) {
      all.append(" ").append(words[static_cast<std::size_t>(a.what)]);
      if (a.what != op::spawn) continue;
      all.append(" ").append(std::to_string(a.name)).append(" in mode ");
      all.append(std::to_string(static_cast<int>(a.mode)));
    }
    all.append(";");
  }
  return all;
}

// Every order of every program. Returns what is wrong with the first that fails, or "".
std::string every_program(const program_space& space, const phase_sim::settings& s, totals& sum,
                          std::uint64_t stride = 1) {
  program tasks;
  for (std::uint64_t n = 0; make(space, n, tasks); n += stride) {
    const std::string wrong = sim::every_order(sum, [&](sim::choice& chooser) {
      phase_sim::list_script script(tasks, phaser_mode::signal_wait_next);
      return phase_sim::run(s, script, chooser);
    });
    if (!wrong.empty()) return wrong + ":" + text(tasks);
  }
  return "";
}

void expect_right(const char* name, const program_space& space, const phase_sim::settings& s,
                  std::uint64_t stride = 1) {
  std::uint64_t slower = sim::stride_wanted();
  if (s.tiers > 1) slower = (slower + 4) / 5;  // few programs already
  totals sum;
  EXPECT_EQ(every_program(space, s, sum, stride * slower), "");
  EXPECT_GT(sum.states * slower, 10'000U);
  std::cout << name << ": " << sum << std::endl;
}

const program_space clocks{{op::next, op::resume, op::drop}, {phaser_mode::signal_wait}};
const program_space phasers{{op::next, op::resume},
                            {phaser_mode::signal_wait, phaser_mode::signal, phaser_mode::wait}};
const program_space singles{{op::next, op::single}, {phaser_mode::signal_wait_next}};

constexpr phase_sim::settings flat;
constexpr phase_sim::settings flat_between{.between = true};
constexpr phase_sim::settings two_leaves{.tiers = 2, .degree = 2};
constexpr phase_sim::settings three_leaves{.tiers = 2, .degree = 3};
constexpr phase_sim::settings four_leaves{.tiers = 3, .degree = 2};

phase_sim::settings with_tallies(phase_sim::settings s) {
  s.tallies = true;
  return s;
}

TEST(phase_every_order, clocks) {
  expect_right("clock", clocks, flat);
  expect_right("clock with tallies", clocks, with_tallies(flat), 3);
}

TEST(phase_every_order, flat_phasers) {
  expect_right("phaser", phasers, flat, 3);
  expect_right("phaser, steps between phases", phasers, flat_between, 17);
  expect_right("phaser, tallies", phasers, with_tallies(flat_between), 17);
  expect_right("next_single", singles, flat, 3);
}

TEST(phase_every_order, trees) {
  expect_right("2 leaves", phasers, two_leaves, 301);
  expect_right("2 leaves, drops", clocks, with_tallies(two_leaves), 301);
  expect_right("3 leaves", phasers, three_leaves, 1601);
  expect_right("2 leaves, next_single", singles, two_leaves, 61);
  expect_right("3 tiers", phasers, four_leaves, 2003);
}

// Looks for what a fault causes: in few programs of each space first, then in more.
std::string seen(fault f) {
  totals sum;
  std::string wrong;
  for (const std::uint64_t finer : {1, 8}) {
    for (phase_sim::settings s : {flat, with_tallies(flat), two_leaves}) {
      s.recounts = false;
      s.max_steps = 10'000;
      s.broken = f;
      const std::uint64_t stride = (s.tiers == 1 ? 101 : 701) / finer;
      if (wrong.empty()) wrong = every_program(phasers, s, sum, stride);
      if (wrong.empty()) wrong = every_program(clocks, s, sum, stride);
      if (wrong.empty()) wrong = every_program(singles, s, sum, 17);
    }
  }
  return sim::after_runs(sum, wrong);
}

// The programs are large enough to show every fault.
TEST(phase_every_order, every_fault_is_seen) { sim::expect_every_fault_seen<fault>(seen); }

}  // namespace

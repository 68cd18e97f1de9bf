// SPDX-License-Identifier: Apache-2.0
// Runs every program of three tasks on one clock or phaser, in every order of their steps.
//   APGAS_TEST_STRIDE=n   takes only every n-th of these programs (default 1), for slow builds
//   APGAS_TEST_THIN=n     takes only every n-th of those (default 2; 1 in the long test)
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_phase_programs.hpp"
#include "sim_phase_world.hpp"
#include "sim_runs.hpp"

namespace {

using apgas::phaser_mode;
using phase_sim::fault;
using phase_sim::op;
using phase_sim::program;
using phase_sim::program_space;
using sim::totals;

// Runs every order of every program. Returns what is wrong with the first program that fails, or
// "".
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
  if (s.tiers > 1) slower = (slower + 4) / 5;  // there are few programs already
  // An odd stride takes equally many programs of each kind.
  if (stride != 1) stride = (stride * sim::thinned(2)) | 1U;
  stride *= slower;
  totals sum;
  EXPECT_EQ(every_program(space, s, sum, stride), "");
  EXPECT_EQ(sum.programs, (space.programs() + stride - 1) / stride)
      << "every order of each program";
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
constexpr phase_sim::settings growing{.grows_to = 2};

phase_sim::settings with_batched_arrivals(phase_sim::settings s) {
  s.batches_arrivals = true;
  return s;
}

TEST(phase_every_order, clocks) {
  expect_right("clock", clocks, flat);
  expect_right("clock, batched arrivals", clocks, with_batched_arrivals(flat), 3);
}

TEST(phase_every_order, flat_phasers) {
  expect_right("phaser", phasers, flat, 3);
  expect_right("phaser, actions between phases", phasers, flat_between, 17);
  expect_right("phaser, batched arrivals", phasers, with_batched_arrivals(flat_between), 17);
  expect_right("next_single", singles, flat, 3);
}

TEST(phase_every_order, trees) {
  expect_right("2 leaves", phasers, two_leaves, 301);
  expect_right("2 leaves, drops", clocks, with_batched_arrivals(two_leaves), 301);
  expect_right("3 leaves", phasers, three_leaves, 1601);
  expect_right("2 leaves, next_single", singles, two_leaves, 61);
  expect_right("3 tiers", phasers, four_leaves, 1501);
}

TEST(phase_every_order, growing_clocks) {
  expect_right("clock that grows", clocks, growing, 31);
  expect_right("clock that grows, batched arrivals", clocks, with_batched_arrivals(growing), 31);
}

// The only kind of program in which three tasks in three tiers show that a reopening is told late:
// two tasks reopen leaves under one inner tree node, and each relies on the message of the other.
std::string told_late(phase_sim::settings s, totals& sum) {
  const program tasks{{{op::next}, {op::spawn, 1, phaser_mode::signal}, {op::next}},
                      {{op::spawn, 2, phaser_mode::signal}},
                      {{op::resume}}};
  s.tiers = 3;
  return sim::every_order(sum, [&](sim::choice& chooser) {
    phase_sim::list_script script(tasks, phaser_mode::signal_wait_next);
    return phase_sim::run(s, script, chooser);
  });
}

// Looks for the effects of a fault: first in few programs of each space, then in more.
std::string seen(fault f) {
  totals sum;
  std::string wrong;
  if (f == fault::reopening_is_told_late) {
    wrong = told_late({.recounts = false, .broken = f}, sum);
    return sim::after_runs(sum, wrong);
  }
  for (const std::uint64_t finer : {std::uint64_t{1}, std::uint64_t{8}}) {
    for (phase_sim::settings s : {flat, with_batched_arrivals(flat), two_leaves, growing}) {
      s.recounts = false;
      s.max_steps = 10'000;
      s.broken = f;
      const bool is_tree = s.tiers > 1 || s.grows_to > 1;
      const std::uint64_t stride = (is_tree ? 701 : 101) / finer;
      if (wrong.empty()) wrong = every_program(phasers, s, sum, stride);
      if (wrong.empty()) wrong = every_program(clocks, s, sum, stride);
      if (wrong.empty()) wrong = every_program(singles, s, sum, 17);
    }
  }
  return sim::after_runs(sum, wrong);
}

// The programs are large enough to show the effects of every fault.
TEST(phase_every_order, every_fault_is_seen) { sim::expect_every_fault_seen<fault>(seen); }

}  // namespace

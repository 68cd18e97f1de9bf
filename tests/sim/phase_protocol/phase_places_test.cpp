// SPDX-License-Identifier: Apache-2.0
// Clocks and phasers that span places, with messages in every order that the network allows.
//   APGAS_TEST_SEED=n    runs only this seed
//   APGAS_TEST_SEEDS=n   runs n seeds (default 10000)
//   APGAS_TEST_THIN=n    takes only every n-th of the programs that run in every order (default 9)
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_phase_places.hpp"
#include "sim_phase_programs.hpp"
#include "sim_runs.hpp"

namespace {

using phase_sim::action;
using phase_sim::op;
using phase_sim::phaser_mode;
using phase_sim::place_fault;
using phase_sim::places_world;

std::string run_seed(std::uint64_t seed, place_fault f, places_world::counts* out = nullptr) {
  apgas::base::random_engine pick(seed);
  phase_sim::random_script::shape shape;
  shape.tasks = 1 + static_cast<int>(pick.below(30));
  shape.modes = pick.below(3) != 0;
  shape.spawn = 0.1 + pick.real() * 0.3;
  shape.end = 0.03 + pick.real() * 0.1;
  shape.drop = pick.real() * 0.1;
  shape.resume = pick.real() * 0.4;
  shape.travel = 0.2;
  shape.single = pick.below(2) == 0 ? 0.3 : 0.0;
  shape.steps = 40;
  phase_sim::places_settings s{.broken = f};
  s.places = 1 + static_cast<int>(pick.below(4));
  s.accumulators = static_cast<int>(pick.below(4));
  phase_sim::random_script program(shape, pick());
  sim::random_choice chooser(pick());
  return phase_sim::run_places(s, program, chooser, out);
}

TEST(phase_places, random_programs) {
  const std::uint64_t only = sim::from_environment("APGAS_TEST_SEED", 0);
  const std::uint64_t last = only != 0 ? only : sim::from_environment("APGAS_TEST_SEEDS", 10'000);
  places_world::counts sum;
  for (std::uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
    places_world::counts one;
    ASSERT_EQ(run_seed(seed, place_fault::none, &one), "") << "APGAS_TEST_SEED=" << seed;
    sum.phases += one.phases;
    sum.travels += one.travels;
    sum.arrivals += one.arrivals;
    sum.positions += one.positions;
    sum.replicas += one.replicas;
    sum.kept += one.kept;
    sum.parts += one.parts;
    sum.reads += one.reads;
    sum.asks += one.asks;
    sum.too_late += one.too_late;
    sum.singles += one.singles;
    sum.not_chosen += one.not_chosen;
  }
  std::cout << sum.phases << " phases, " << sum.travels << " travels, " << sum.arrivals
            << " arrivals, " << sum.positions << " other positions, " << sum.replicas
            << " replicas, " << sum.kept << " registrations kept in transit; " << sum.parts
            << " partial results, " << sum.reads << " results read, " << sum.asks << " asked for, "
            << sum.too_late << " too late; " << sum.singles << " closures, " << sum.not_chosen
            << " tasks not chosen" << std::endl;
  if (only != 0) return;
  EXPECT_GT(sum.kept, 0);
  EXPECT_GT(sum.arrivals, 0);
  EXPECT_GT(sum.asks, 0);
  EXPECT_GT(sum.not_chosen, 0);
}

TEST(phase_places, a_thousand_places) {
  phase_sim::random_script program(
      {.tasks = 3'000, .modes = true, .spawn = 0.8, .end = 0.02, .travel = 0.1, .steps = 60}, 1);
  sim::random_choice chooser(1);
  places_world::counts c;
  ASSERT_EQ(
      phase_sim::run_places({.places = 1'000, .most_steps = 100'000'000}, program, chooser, &c),
      "");
  EXPECT_GT(c.phases, 5);
  std::cout << c.phases << " phases, " << c.travels << " travels" << std::endl;
}

// Three tasks at two and at three places, in every order.
std::vector<std::vector<std::vector<action>>> small_programs() {
  using enum phaser_mode;
  const action next{op::next};
  const action drop{op::drop};
  const action resume{op::resume};
  const action travel{op::travel};
  const action one{op::spawn, 1, signal_wait};
  const action two{op::spawn, 2, signal_wait};
  return {
      {{one, two, next}, {next}, {next}},
      {{one, next}, {two, next}, {next}},
      {{one, resume, two, next}, {next}, {next}},
      {{resume, one, drop}, {two, next}, {next, next}},
      {{one, drop}, {travel, next}, {}},
      {{one, travel, next}, {next, drop}, {}},
      {{{op::spawn, 1, signal}, {op::spawn, 2, wait}, drop}, {next, next}, {next, next}},
      {{{op::spawn, 1, signal}, next}, {next, {op::spawn, 2, signal}}, {next}},
  };
}

constexpr std::size_t most_states = 400'000;  // five times as many as the largest program has

std::string every_order(std::size_t& states) {
  for (const auto& program : small_programs()) {
    for (const int places : {2, 3}) {
      sim::every_choice chooser;
      bool more = true;
      while (more && chooser.states() < most_states) {
        phase_sim::list_script script(program, phaser_mode::signal_wait_next);
        const std::string wrong =
            phase_sim::run_places({.places = places, .most_steps = 10'000}, script, chooser);
        if (!wrong.empty()) return wrong;
        more = chooser.next();
      }
      if (more) return "there are more states than these " + std::to_string(chooser.states());
      states += chooser.states();
    }
  }
  return "";
}

TEST(phase_places, every_order_of_small_programs) {
  std::size_t states = 0;
  EXPECT_EQ(every_order(states), "");
  std::cout << states << " states" << std::endl;
}

// Every n-th of all programs of three tasks at two places, in which tasks may also move.
std::string every_program(const phase_sim::program_space& space, int accumulators,
                          std::uint64_t stride, sim::totals& sum) {
  phase_sim::program tasks;
  for (std::uint64_t n = 0; make(space, n, tasks); n += stride) {
    const std::string wrong = sim::every_order(sum, [&](sim::choice& chooser) {
      phase_sim::list_script script(tasks, phaser_mode::signal_wait_next);
      return phase_sim::run_places({.accumulators = accumulators, .most_steps = 10'000}, script,
                                   chooser);
    });
    if (!wrong.empty()) return wrong + ":" + text(tasks);
  }
  return "";
}

TEST(phase_places, every_order_of_many_programs) {
  const phase_sim::program_space clocks{{op::next, op::resume, op::drop, op::travel},
                                        {phaser_mode::signal_wait}};
  const phase_sim::program_space phasers{
      {op::next, op::travel}, {phaser_mode::signal_wait, phaser_mode::signal, phaser_mode::wait}};
  const phase_sim::program_space singles{{op::single, op::travel}, {phaser_mode::signal_wait_next}};
  const std::uint64_t thin = sim::thinned(9);
  struct chosen {
    const phase_sim::program_space& space;
    int accumulators;
    std::uint64_t stride;
  };
  for (const auto& [space, accumulators, stride] :
       {chosen{clocks, 0, 997}, chosen{phasers, 0, 397}, chosen{phasers, 1, 397},
        chosen{singles, 0, 41}, chosen{singles, 2, 41}}) {
    sim::totals sum;
    EXPECT_EQ(every_program(space, accumulators, stride * thin * sim::stride_wanted(), sum), "");
    EXPECT_GT(sum.programs * thin * sim::stride_wanted(), 25U);
    std::cout << sum << std::endl;
  }
}

TEST(phase_places, every_fault_is_seen) {
  for (int i = 1; i < static_cast<int>(place_fault::last); ++i) {
    std::string seen;
    std::uint64_t seed = 0;
    while (seen.empty() && seed < 20'000) seen = run_seed(++seed, static_cast<place_fault>(i));
    EXPECT_NE(seen, "") << "fault " << i << " was not detected";
    std::cout << "fault " << i << ": seed " << seed << ": " << seen << std::endl;
  }
}

}  // namespace

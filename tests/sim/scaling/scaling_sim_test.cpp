// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <gtest/gtest.h>

#include "scaling_programs.hpp"
#include "sim_runs.hpp"

// The policy of the scheduler on hundreds of simulated cores. The bounds lie a little below what
// docs/scaling.md shows, so that a change for the worse fails here. The time is simulated, so each
// result is the same in every run.
namespace apgas::test::scaling {
namespace {

result simulated(std::string_view name, std::uint64_t size, int workers) {
  world w(machine{}, workers);
  return w.run(program_called(name, workers, size));
}

// How much faster the program is than with one worker, for each worker.
double speed_up_of_each(std::string_view name, std::uint64_t size, int workers) {
  const result one = simulated(name, size, 1);
  const result all = simulated(name, size, workers);
  EXPECT_EQ(one.work, all.work);
  return static_cast<double>(one.time) / (static_cast<double>(all.time) * workers);
}

TEST(ScalingSim, ALoopOfTenMicrosecondsKeeps256WorkersBusy) {
  EXPECT_GT(speed_up_of_each("loop", 100'000, 256), 0.9);
}

TEST(ScalingSim, AnUnbalancedTreeKeeps64WorkersBusy) {
  EXPECT_GT(speed_up_of_each("geometric", 11, 64), 0.96);
}

// The tree of the size of T1L takes most of a minute, so only the test labelled `long` has it.
TEST(ScalingSim, ALargeTreeKeepsHundredsOfWorkersBusy) {
  if (sim::thinned(0) == 1) {
    EXPECT_GT(speed_up_of_each("geometric", 13, 256), 0.97);
  } else {
    EXPECT_GT(speed_up_of_each("geometric", 12, 128), 0.97);
  }
}

TEST(ScalingSim, OneProducerFeeds256Workers) {
  EXPECT_GT(speed_up_of_each("producer", 20'000, 128), 0.89);
  EXPECT_GT(speed_up_of_each("producer", 20'000, 256), 0.79);
}

// Searches and pushes must not all wait for the line of the idle list: programs of few milliseconds
// became slower with each worker beyond 64.
TEST(ScalingSim, MoreThan64WorkersSlowNothingDown) {
  for (const auto& [name, size] : {std::pair("fib", 26), {"binomial", 1'000}, {"geometric", 9}}) {
    EXPECT_LT(simulated(name, size, 256).time, simulated(name, size, 64).time) << name;
  }
}

TEST(ScalingSim, TwoWorkersShareEachProgram) {
  EXPECT_GT(speed_up_of_each("fib", 24, 2), 0.9);
  EXPECT_GT(speed_up_of_each("binomial", 200, 2), 0.9);
  EXPECT_GT(speed_up_of_each("producer", 2'000, 2), 0.95);
}

// A task of 0.1 us for each of 16 workers: a round in which one worker runs them all takes 1.7 us.
TEST(ScalingSim, ThievesLeaveRoundsOfShortTasksToTheirSpawner) {
  constexpr int workers = 16;
  constexpr std::uint64_t rounds = 500;
  world w(flat_machine(), workers);
  const result r = w.run(program_called("rounds", workers, rounds));
  EXPECT_LT(static_cast<double>(r.time) / cycles_per_ns / rounds, 3'000.0);
}

// All that search together must not interrupt each other for each steal.
TEST(ScalingSim, ThievesOfALoopNeedNoFence) {
  EXPECT_EQ(simulated("loop", 20'000, 256).fences, 0U);
}

// The time of a task and phase of a clock, in ns, less the tenth of a microsecond of work that is
// the share of each worker.
double phase_overhead_ns(const machine& m, std::uint64_t tasks, int workers) {
  world w(m, workers);
  const result r = w.run(program_called("clock", workers, tasks));
  EXPECT_NE(r.phases, 0U);
  const double phase = static_cast<double>(r.phases_time) / cycles_per_ns;
  return phase / static_cast<double>(r.phases * tasks) - 100.0 / workers;
}

TEST(ScalingSim, APhaseOfOneWorkerCostsWhatWasMeasured) {
  EXPECT_NEAR(phase_overhead_ns(machine{}, 512, 1), 13.8, 5);
  EXPECT_NEAR(phase_overhead_ns(machine{}, 4'096, 1), 26, 5);
}

TEST(ScalingSim, TwoWorkersShareThePhasesOfAClock) {
  EXPECT_LT(phase_overhead_ns(machine{}, 512, 2), 15);
  EXPECT_LT(phase_overhead_ns(machine{}, 4'096, 2), 15);
}

// Workers that have run their tasks of a phase must not tear up the batches of the others: a phase
// took longer on 16 workers than on one.
TEST(ScalingSim, ThievesLeaveTheBatchesOfAPhaseToTheirWorkers) {
  EXPECT_LT(phase_overhead_ns(flat_machine(), 512, 16), 20);
  EXPECT_LT(phase_overhead_ns(machine{}, 512, 32), 40);
  EXPECT_LT(phase_overhead_ns(machine{}, 4'096, 16), 10);
}

TEST(ScalingSim, ThePhasesOfAClockAreTheSameTwice) {
  EXPECT_EQ(phase_overhead_ns(machine{}, 512, 32), phase_overhead_ns(machine{}, 512, 32));
}

TEST(ScalingSim, TheSameRunTwiceIsTheSame) {
  const result first = simulated("geometric", 8, 64);
  const result second = simulated("geometric", 8, 64);
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.steals, second.steals);
}

TEST(ScalingSim, RefusesAnUnknownProgram) {
  EXPECT_THROW(program_called("sort", 2, 1), std::invalid_argument);
}

}  // namespace
}  // namespace apgas::test::scaling

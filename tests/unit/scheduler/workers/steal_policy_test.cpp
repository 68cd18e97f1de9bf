// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/steal_policy.hpp>

#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

// When a worker steals again, and whom it visits. How these decisions work together is simulated by
// scaling_sim_test.
namespace apgas::test {
namespace {

using scheduler::steal_pace;
using scheduler::victim_order;

// Steals a task for 1,000 cycles, and runs it for `work`; its end takes `end`. Returns the time of
// the first look for another one.
std::uint64_t steal_and_run(steal_pace& pace, std::uint64_t now, std::uint64_t work,
                            std::uint64_t end) {
  pace.stole(1, now, now + 1'000, false);
  EXPECT_TRUE(pace.awaits_work());
  pace.worked(work);
  return now + 1'000 + work + end;
}

TEST(StealPace, ATaskThatTookLongerThanTheStealIsFollowedByNoPause) {
  steal_pace pace;
  EXPECT_TRUE(pace.may_steal(steal_and_run(pace, 1, 1'000, 0), 2));
  EXPECT_FALSE(pace.awaits_work());
}

TEST(StealPace, AfterShortTasksThePausesGrow) {
  steal_pace pace;
  std::uint64_t now = 1;
  for (const std::uint64_t pause : {1'000U, 4'000U, 16'000U}) {
    now = steal_and_run(pace, now, 100, 0);
    EXPECT_FALSE(pace.may_steal(now, 2));
    EXPECT_FALSE(pace.pause_is_over(now + pause - 1)) << pause;
    EXPECT_TRUE(pace.pause_is_over(now + pause)) << pause;
    now += pause;
  }
  now = steal_and_run(pace, now, 100'000, 0);
  EXPECT_FALSE(pace.may_steal(now, 2));  // shorter again
  EXPECT_TRUE(pace.pause_is_over(now + 4'000));
}

TEST(StealPace, TheEndOfAStolenTaskDoesNotPay) {
  steal_pace pace;
  EXPECT_FALSE(pace.may_steal(steal_and_run(pace, 1, 100, 50'000), 2));
}

TEST(StealPace, ATaskThatWasSuspendedCountsUntilTheNextLook) {
  steal_pace pace;
  pace.stole(2, 1, 1'001, false);
  pace.worked(10);
  EXPECT_TRUE(pace.may_steal(20'000, 2));
}

TEST(StealPace, AStealWithAHeavyFenceMustPayMore) {
  steal_pace pace;
  pace.stole(1, 1, 1'001, true);
  pace.worked(5'000);
  EXPECT_FALSE(pace.may_steal(6'001, 2));
}

int no_topology(int, int) { return 0; }
int near_below_four(int, int b) { return b < 4 ? 1 : 0; }

// The victims of the round that begins at `now`.
std::vector<int> round_of(victim_order& order, std::uint64_t now) {
  std::vector<int> visited;
  const std::size_t n = order.begin_round(now);
  for (std::size_t i = 0; i < n; ++i) visited.push_back(order[i]);
  return visited;
}

TEST(VictimOrder, OneWorkerHasNoVictims) {
  victim_order order(0, 1, no_topology);
  EXPECT_EQ(order.begin_round(1), 0U);
}

TEST(VictimOrder, AFewWorkersVisitAllOthersNearestFirst) {
  victim_order order(5, 9, near_below_four);
  EXPECT_EQ(round_of(order, 1), (std::vector<int>{0, 1, 2, 3, 6, 7, 8, 4}));
  order.found_none(1);
  EXPECT_EQ(round_of(order, 1).size(), 8U);  // without a break
}

TEST(VictimOrder, ARoundBeginsWithTheVictimThatHadTasks) {
  for (const int workers : {9, 100}) {
    victim_order order(0, workers, no_topology);
    const int victim = round_of(order, 1)[5];
    order.found(5);
    EXPECT_EQ(round_of(order, 1).front(), victim) << workers;
  }
}

TEST(VictimOrder, ManyWorkersVisitAFewInEachRoundAndAllInTime) {
  constexpr int workers = 100;
  victim_order order(7, workers, no_topology);
  std::set<int> seen;
  for (int i = 0; i < 1'000; ++i) {
    const std::vector<int> visited = round_of(order, 1);
    EXPECT_EQ(visited.size(), 8U);
    seen.insert(visited.begin(), visited.end());
  }
  EXPECT_EQ(seen.size(), workers - 1U);
  EXPECT_FALSE(seen.contains(7));
}

TEST(VictimOrder, RoundsInVainAreFollowedByLongerBreaks) {
  victim_order order(0, 1'000, no_topology);
  std::uint64_t now = 1;
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(order.begin_round(now), 0U);
    order.found_none(now);
    std::uint64_t rest = 0;
    while (order.begin_round(now + rest) == 0) ++rest;
    EXPECT_GT(rest, last);
    last = rest;
    now += rest;
  }
}

TEST(IdleTime, IsLongerForManyWorkersInLockStepOnly) {
  using namespace std::chrono_literals;
  EXPECT_EQ(scheduler::idle_time(20us, 16, true), 20us);
  EXPECT_EQ(scheduler::idle_time(20us, 64, false), 20us);
  EXPECT_EQ(scheduler::idle_time(20us, 64, true), 100us);
  EXPECT_EQ(scheduler::idle_time(20us, 1'024, true), 1'600us);
  EXPECT_EQ(scheduler::idle_time(2us, 64, true), 10us);
  EXPECT_EQ(scheduler::idle_time(1s, 64, true), 1s) << "as the user has chosen";
}

}  // namespace
}  // namespace apgas::test

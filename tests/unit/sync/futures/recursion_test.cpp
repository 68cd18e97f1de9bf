// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apgas/future.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/task.hpp>

#include "support/scheduler_fixture.hpp"

// A recursion whose tasks wait for the futures of their children.
namespace {

using apgas::async_future;

int leaves_below(int depth) {
  if (depth == 0) return 1;
  const auto left = async_future([depth] { return leaves_below(depth - 1); });
  const auto right = async_future([depth] { return leaves_below(depth - 1); });
  return left.get() + right.get();
}

TEST(future, a_recursion_ends_subtrees_before_it_begins_others) {
  apgas::test::run_tasks(1, [] {
    constexpr int depth = 13;
    EXPECT_EQ(leaves_below(depth), 1 << depth);
    // Each of the 8,191 tasks with children waits. A stack is made only if none is free, so their
    // number is about that of the tasks that waited at the same time: 2,300 if every fourth choice
    // prefers the oldest task, 260 to 380 with few free stacks.
    const auto& place = apgas::sync::place_of(*apgas::scheduler::current_fiber());
    EXPECT_LT(place.task_scheduler->stats().fibers, 1'000U);
  });
}

}  // namespace

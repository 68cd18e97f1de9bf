// SPDX-License-Identifier: Apache-2.0

// Tasks that wait until they may send: they are suspended, not resumed again and again, and each of
// them goes on once the tasks from other places have started.

#include <apgas/sync/flow_control.hpp>

#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/finish.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::sync::flow_control;

constexpr std::size_t window = 1024;

class FlowControlOn : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, FlowControlOn, testing::Values(1, 2));

TEST_P(FlowControlOn, TasksWaitWhileThisPlaceIsBehind) {
  apgas::test::run_tasks(GetParam(), [] {
    flow_control flow(2, window);
    flow.on_arrival(3 * window);
    EXPECT_TRUE(flow.behind());
    constexpr int tasks = 10;
    std::atomic<int> waiting{0};
    std::atomic<int> sent{0};
    apgas::finish([&] {
      for (int i = 0; i < tasks; ++i) {
        apgas::async([&] {
          ++waiting;
          flow.wait_until_caught_up({});
          ++sent;
        });
      }
      while (waiting != tasks) apgas::yield();
      static_cast<void>(flow.on_start(1, window));
      for (int i = 0; i < 100; ++i) apgas::yield();
      EXPECT_EQ(sent, 0) << "two windows have not started";
      static_cast<void>(flow.on_start(1, window));
    });
    EXPECT_FALSE(flow.behind());
    EXPECT_EQ(sent, tasks);
  });
}

// A task that waits is suspended once, however often its worker looks for work meanwhile.
TEST(FlowControl, AWaitingTaskIsSuspendedOnce) {
  apgas::test::task_place place(1);
  place.run([&] {
    flow_control flow(2, window);
    flow.on_arrival(2 * window);
    constexpr std::uint64_t yields = 100;
    const std::uint64_t before = place.tasks().stats().suspensions;
    apgas::finish([&] {
      apgas::async([&] { flow.wait_until_caught_up({}); });
      for (std::uint64_t i = 0; i < yields; ++i) apgas::yield();
      EXPECT_EQ(place.tasks().stats().suspensions - before, yields + 1);
      static_cast<void>(flow.on_start(1, window));
    });
  });
}

// What starts and what waits at the same time: no task is forgotten.
TEST_P(FlowControlOn, NoTaskIsForgotten) {
  apgas::test::run_tasks(GetParam(), [] {
    constexpr int rounds = apgas::test::scaled(20'000, 1'000);
    flow_control flow(2, window);
    for (int round = 0; round < rounds; ++round) {
      flow.on_arrival(window + 1);
      apgas::finish([&] {
        apgas::async([&] { flow.wait_until_caught_up({}); });
        apgas::async([&] { static_cast<void>(flow.on_start(1, window + 1)); });
      });
    }
    EXPECT_FALSE(flow.behind());
  });
}

// A report of the other place resumes the tasks that wait for room there.
TEST_P(FlowControlOn, TasksWaitForRoomAtTheOtherPlace) {
  apgas::test::run_tasks(GetParam(), [] {
    flow_control flow(2, window);
    flow.on_send(1, 2 * window);
    EXPECT_TRUE(flow.full(1));
    std::atomic<bool> sent{false};
    apgas::finish([&] {
      apgas::async([&] {
        flow.wait_for_room(1, {});
        sent = true;
      });
      for (int i = 0; i < 100; ++i) apgas::yield();
      EXPECT_FALSE(sent);
      flow.on_report(1, window);
    });
    EXPECT_TRUE(sent);
  });
}

}  // namespace

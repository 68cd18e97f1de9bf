// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/inspection.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/blocking.hpp>
#include <apgas/clock.hpp>
#include <apgas/finish.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// A scheduler without a watchdog tells what its tasks wait for.
namespace apgas::test {
namespace {

using scheduler::task_report;
using testing::HasSubstr;

// Returns the first report that `wanted` accepts. Context: a thread that is no worker.
template <class Wanted>
task_report report_when(scheduler::scheduler& tasks, Wanted wanted) {
  for (;;) {
    task_report report = scheduler::report_tasks(tasks);
    if (wanted(report)) return report;
    std::this_thread::yield();
  }
}

std::string line_of(int number) {
  return std::string("inspection_test.cpp:").append(std::to_string(number));
}

std::uint64_t waiting_in(const task_report& report, const std::string& construct) {
  std::uint64_t tasks = 0;
  for (const auto& group : report.groups) tasks += group.construct == construct ? group.tasks : 0;
  return tasks;
}

// A task in a batch has another construct than one that waits alone.
// Whether the text is part of what the tasks of a group await.
bool any_awaits(const task_report& report, const std::string& text) {
  return std::ranges::any_of(report.groups, [&](const auto& group) {
    return group.awaits.find(text) != std::string::npos;
  });
}

std::uint64_t waiting_in_phases(const task_report& report) {
  std::uint64_t tasks = 0;
  for (const auto& group : report.groups) {
    if (group.construct.starts_with("a phase of a clock")) tasks += group.tasks;
  }
  return tasks;
}

TEST(Inspection, GroupsTheWaitingTasksOfASchedulerAtRest) {
  task_place place(2);
  latch gate(1);
  task_report report;
  std::thread observer([&] {
    report = report_when(place.tasks(), [](const task_report& r) {
      return r.at_rest && waiting_in(r, "latch::wait") == 3;
    });
    gate.count_down();
  });
  const int line = __LINE__ + 2;
  place.run([&] {
    for (int i = 0; i < 3; ++i) async(name("waiter"), [&] { gate.wait(); });
  });
  observer.join();
  ASSERT_FALSE(report.groups.empty());
  const auto& group = report.groups[0];
  EXPECT_EQ(group.tasks, 3);
  EXPECT_THAT(group.where, HasSubstr(line_of(line)));
  EXPECT_THAT(group.spawned, HasSubstr(line_of(line)));
  EXPECT_EQ(group.name, "waiter");
  EXPECT_EQ(report.waiting, 3);
  EXPECT_EQ(report.queued, 0);
  EXPECT_TRUE(report.cycle.empty()) << report.cycle;
  for (const auto& worker : report.workers) {
    EXPECT_EQ(worker.what, scheduler::worker_report::kind::asleep);
  }
}

TEST(Inspection, NamesWhatAWorkerRunsWhileOtherTasksWait) {
  task_place place(2);
  latch gate(1);
  mutex held;
  std::atomic<bool> locked{false};
  std::atomic<bool> over{false};
  task_report report;
  std::thread observer([&] {
    report = report_when(place.tasks(), [](const task_report& r) {
      return !r.at_rest && waiting_in(r, "latch::wait") == 2 && any_awaits(r, ", which runs") &&
             std::ranges::any_of(r.workers, [](const auto& w) {
               return w.spawned.find("inspection_test.cpp") != std::string::npos;
             });
    });
    over = true;
    gate.count_down();
  });
  const int line = __LINE__ + 3;
  place.run([&] {
    for (int i = 0; i < 2; ++i) async([&] { gate.wait(); });
    async([&] {
      held.lock();
      locked = true;
      while (!over) std::this_thread::yield();
      held.unlock();
    });
    async([&] {
      while (!locked) yield();
      held.lock();
      held.unlock();
    });
  });
  observer.join();
  EXPECT_TRUE(any_awaits(report, "awaits the task that has locked it: spawned at "));
  std::string running;
  for (const auto& w : report.workers) running += w.spawned;
  EXPECT_THAT(running, HasSubstr(line_of(line)));
}

TEST(Inspection, CountsTheTasksOfAPhaseWhileAnotherTaskRuns) {
  task_place place(2);
  std::atomic<bool> over{false};
  task_report report;
  std::thread observer([&] {
    report = report_when(place.tasks(), [](const task_report& r) {
      return !r.at_rest && waiting_in_phases(r) >= 50;
    });
    over = true;
  });
  place.run([&] {
    clock c = clock::make();
    for (int i = 0; i < 50; ++i) async(clocked(c), [c] { c.advance(); });
    while (!over) yield();
    c.advance();
  });
  observer.join();
  EXPECT_EQ(waiting_in_phases(report), 50);
  EXPECT_LE(report.waiting, 51) << "the spawner may be in yield";
}

TEST(Inspection, FindsACycle) {
  task_place place(2);
  mutex one;
  mutex two;
  task_report report;
  std::thread observer([&] {
    report = report_when(place.tasks(), [](const task_report& r) { return !r.cycle.empty(); });
    place.run([&] {
      one.unlock();
      two.unlock();
    });
  });
  place.run([&] {
    latch both(2);
    const auto lock_both = [&both](mutex& first, mutex& second) {
      first.lock();
      both.count_down();
      both.wait();
      second.lock();
      second.unlock();
    };
    finish([&] {
      async([&] { lock_both(one, two); });
      async([&] { lock_both(two, one); });
    });
  });
  observer.join();
  EXPECT_TRUE(report.at_rest);
  EXPECT_THAT(report.cycle, HasSubstr("waits in mutex::lock"));
  EXPECT_EQ(std::ranges::count_if(report.groups,
                                  [](const auto& group) {
                                    return group.awaits.starts_with(
                                        "awaits the task that has locked it: spawned at ");
                                  }),
            2);
}

TEST(Inspection, CopiesTheStackOfAWaitingTaskFromItsStackPointer) {
  task_place place(2);
  latch gate(1);
  scheduler::suspended_stacks copied;
  std::thread observer([&] {
    report_when(place.tasks(),
                [](const task_report& r) { return waiting_in(r, "latch::wait") == 9; });
    copied = scheduler::copy_stacks(place.tasks(), 4096);
    gate.count_down();
  });
  place.run([&] {
    for (int i = 0; i < 9; ++i) async([&] { gate.wait(); });
  });
  observer.join();
  EXPECT_EQ(copied.left_out + copied.some.size(), 9);
  EXPECT_GE(copied.left_out, 4) << "some tasks of each group are enough";
  for (const auto& stack : copied.some) {
    EXPECT_NE(stack.stack_pointer, 0);
    EXPECT_EQ(stack.stack_pointer % 8, 0);
    EXPECT_GT(stack.bytes.size(), 64);
    EXPECT_LE(stack.bytes.size(), 4096);
  }
}

// The observer reads what the workers write; the sanitizers look for races and bad accesses.
TEST(Inspection, IsSafeWhileTasksComeAndGo) {
  task_place place(2);
  std::atomic<bool> over{false};
  std::thread observer([&] {
    for (int i = 0; i < scaled(2000, 50); ++i) {
      static_cast<void>(scheduler::report_tasks(place.tasks()));
      static_cast<void>(scheduler::copy_stacks(place.tasks(), 1024));
    }
    over = true;
  });
  place.run([&] {
    while (!over) {
      latch gate(1);
      finish([&] {
        for (int i = 0; i < 20; ++i) async(name("waiter"), [&] { gate.wait(); });
        clock c = clock::make();
        for (int i = 0; i < 20; ++i) async(clocked(c), [c] { c.advance(); });
        c.advance();
        c.drop();
        gate.count_down();
      });
    }
  });
  observer.join();
}

}  // namespace
}  // namespace apgas::test

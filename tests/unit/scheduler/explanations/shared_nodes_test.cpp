// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/clock.hpp>
#include <apgas/finish.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/scheduler/inspection.hpp>

#include "support/scheduler_fixture.hpp"

// Tasks of which a report says the same share a node of the wait-for graph only if they have the
// same edges.
namespace apgas::test {
namespace {

using scheduler::task_report;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int tasks = 100;

// Returns the report of the moment at which all workers sleep and `waiting` tasks wait in `in`.
// Context: a thread that is no worker.
task_report report_of(scheduler::scheduler& of, const std::string& in, std::uint64_t waiting) {
  for (;;) {
    task_report report = scheduler::report_tasks(of);
    std::uint64_t found = 0;
    for (const auto& g : report.groups) found += g.construct == in ? g.tasks : 0;
    if (report.at_rest && found == waiting) return report;
    std::this_thread::yield();
  }
}

// Task i holds mutex i and waits for mutex i + 1. The last one waits for a latch, or for mutex 0.
task_report report_of_chain(bool closed) {
  task_place place(2);
  std::deque<mutex> locks(tasks);
  latch gate(1);
  latch all(tasks);
  task_report report;
  std::thread observer([&] {
    report = report_of(place.tasks(), "mutex::lock", closed ? tasks : tasks - 1);
    if (!closed) return gate.count_down();
    place.run([&] {
      for (mutex& each : locks) each.unlock();
    });
  });
  place.run([&] {
    finish([&] {
      for (std::size_t i = 0; i < tasks; ++i) {
        async([&, i] {
          locks[i].lock();
          all.count_down();
          all.wait();
          if (i + 1 == tasks && !closed) {
            gate.wait();
          } else {
            locks[(i + 1) % tasks].lock();
            locks[(i + 1) % tasks].unlock();
          }
          if (!closed) locks[i].unlock();
        });
      }
    });
  });
  observer.join();
  return report;
}

TEST(SharedNodes, AChainOfEqualTasksIsNoCycle) { EXPECT_EQ(report_of_chain(false).cycle, ""); }

TEST(SharedNodes, ARingOfEqualTasksIsACycle) {
  EXPECT_THAT(report_of_chain(true).cycle, HasSubstr("waits in mutex::lock"));
}

// Runs spawn(gate) in a finish, and returns the report of the moment at which so many tasks wait
// for the gate, which then opens.
template <class Spawn>
task_report report_of_waits(Spawn spawn) {
  task_place place(2);
  latch gate(1);
  task_report report;
  std::thread observer([&] {
    report = report_of(place.tasks(), "latch::wait", tasks);
    gate.count_down();
  });
  place.run([&] { finish([&] { spawn(gate); }); });
  observer.join();
  return report;
}

// All wait for the same latch, and one of them holds what another task needs.
TEST(SharedNodes, TheHolderAmongEqualTasksIsToldApart) {
  mutex lock;
  latch locked(1);
  const task_report report = report_of_waits([&](latch& gate) {
    for (int i = 0; i < tasks; ++i) {
      async([&, i] {
        if (i == 0) lock.lock();
        if (i == 0) locked.count_down();
        gate.wait();
        if (i == 0) lock.unlock();
      });
    }
    async([&] {
      locked.wait();
      lock.lock();
      lock.unlock();
    });
  });
  EXPECT_EQ(report.cycle, "");
  EXPECT_THAT(
      report.groups,
      Contains(AllOf(Field(&scheduler::waiting_tasks::construct, "mutex::lock"),
                     Field(&scheduler::waiting_tasks::awaits,
                           AllOf(StartsWith("awaits the task that has locked it: spawned at "),
                                 HasSubstr("in latch::wait"))))));
}

// All wait for one latch, and each is registered on a clock for a phase of which its spawner waits.
TEST(SharedNodes, EqualTasksOnDifferentClocksAreToldApart) {
  const task_report report = report_of_waits([](latch& gate) {
    for (int i = 0; i < tasks; ++i) {
      async([&gate] {
        clock c = clock::make();
        async(clocked(c), [&gate] { gate.wait(); });
        c.advance();
      });
    }
  });
  EXPECT_EQ(report.cycle, "");
}

}  // namespace
}  // namespace apgas::test

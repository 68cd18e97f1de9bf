// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/remedy.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <apgas/scheduler/job_report.hpp>

namespace apgas::test {
namespace {

using scheduler::cycle_kind;
using scheduler::job_report;
using scheduler::place_waits;
using scheduler::remedy_for;
using testing::HasSubstr;

place_waits waiting_in(const std::vector<std::string>& constructs, const std::string& task) {
  place_waits p;
  p.asleep = true;
  for (const std::string& each : constructs) p.groups.push_back({each, task, 1, 0, false});
  p.tasks = constructs.size();
  return p;
}

std::string remedy_of(const std::vector<std::string>& constructs,
                      const std::string& task = "main") {
  return std::string(remedy_for({waiting_in(constructs, task)}));
}

// Two tasks that wait for the objects which they need each other for.
place_waits cycle_through(const std::string& kind, const std::string& task = "main") {
  place_waits p = waiting_in({"x::wait at a.cpp:3"}, task);
  p.objects = {{"", kind, "", -1, 1}, {"", "", "", -1, 1}};
  p.graph_tasks = {{task, "x::wait", "a.cpp:3", 0, 1, ""}, {task, "at", "a.cpp:4", 1, 1, ""}};
  p.needs = {{0, 1, 1, "has it", 1, false}, {1, 0, 1, "has it", 1, false}};
  return p;
}

std::string remedy_of_cycle(const place_waits& p) {
  job_report report(2);  // of one place, the place itself describes the cycle
  report.add(p);
  EXPECT_THAT(report.text(""), HasSubstr("they wait for each other"));
  return std::string(report.remedy());
}

TEST(Remedy, DependsOnWhatACycleLeadsThrough) {
  EXPECT_THAT(remedy_of_cycle(cycle_through("clock")), HasSubstr("drop the clock or phaser"));
  EXPECT_THAT(remedy_of_cycle(cycle_through("phaser")), HasSubstr("drop the clock or phaser"));
  EXPECT_THAT(remedy_of_cycle(cycle_through("shared_mutex")), HasSubstr("in the same order"));
  EXPECT_THAT(remedy_for(cycle_kind::collective), HasSubstr("let all members make the same"));
  EXPECT_EQ(remedy_of_cycle(cycle_through("")), "take out one of these waits");
}

TEST(Remedy, IsThatOfTheCycleWhichAPlaceHasFound) {
  job_report report(1);
  place_waits p = waiting_in({"semaphore::acquire at a.cpp:3"}, "main");
  p.cycle = "task A waits for itself";
  p.kind_of_cycle = cycle_kind::mutex;
  report.add(p);
  EXPECT_THAT(std::string(report.remedy()), HasSubstr("in the same order"));
}

TEST(Remedy, NamesTheTaskThatShouldHaveActed) {
  EXPECT_THAT(remedy_of({"a phase of a clock at a.cpp:3", "semaphore::acquire at a.cpp:4"}),
              HasSubstr("semaphore::release"));
  EXPECT_THAT(remedy_of({"channel::send at a.cpp:3"}), HasSubstr("received"));
  EXPECT_THAT(remedy_of({"a phase of a clock at a.cpp:3"}), HasSubstr("drop or advance"));
  place_waits p = waiting_in({"future::get at a.cpp:3"}, "main");
  p.objects = {{"", "promise", "a.cpp:1", -1, 1}};
  p.graph_tasks = {{"main", "future::get", "a.cpp:3", 0, 1, ""}};
  EXPECT_THAT(std::string(remedy_for({p})), HasSubstr("set the promise"));
}

// A report contains the names of tasks and of files.
TEST(Remedy, IsNotMisledByTheNameOfATask) {
  const std::string name =
      "\"wait for each other in semaphore::acquire, which has locked it, registered on it, the "
      "promise made of a team\", spawned at in latch:: .cpp:1";
  EXPECT_THAT(remedy_of({"channel::send at in semaphore::.cpp:3"}, name), HasSubstr("received"));
  EXPECT_EQ(remedy_of({"future::get at a.cpp:3"}, name), remedy_of({}));
  EXPECT_EQ(remedy_of_cycle(cycle_through("", name)), "take out one of these waits");
}

TEST(Remedy, IsNeverEmpty) { EXPECT_NE(remedy_of({}), ""); }

}  // namespace
}  // namespace apgas::test

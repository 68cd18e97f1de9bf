// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/job_report.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The report over all places, made of what each place has sent.
namespace apgas::test {
namespace {

using scheduler::job_report;
using scheduler::place_waits;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

place_waits place(int number, std::uint64_t tasks = 1) {
  place_waits p;
  p.place = number;
  p.asleep = true;
  p.tasks = tasks;
  return p;
}

place_waits::object object(std::string name, std::uint64_t count) {
  place_waits::object o;
  o.name = std::move(name);
  o.count = count;
  return o;
}

// A task entry of `count` tasks that wait in an at for the object `name`, and that the object
// `needed_by` needs.
place_waits link(int number, const std::string& name, const std::string& needed_by,
                 std::uint64_t count = 1, std::uint64_t needs = 1) {
  place_waits p = place(number, count);
  p.objects = {object(name, count), object(needed_by, count)};
  p.graph_tasks.push_back({"spawned at a.cpp:" + std::to_string(number), "at",
                           "b.cpp:" + std::to_string(number), 0, count});
  p.needs.push_back({1, 0, needs, false, "runs the body"});
  return p;
}

TEST(JobReport, NamesPlacesInRanges) {
  EXPECT_EQ(scheduler::places_text({3}), "place 3");
  EXPECT_EQ(scheduler::places_text({0, 1}), "places 0 and 1");
  EXPECT_EQ(scheduler::places_text({0, 2, 3, 4, 5, 7}), "places 0, 2 to 5 and 7");
}

TEST(JobReport, MergesEqualGroupsOfSeveralPlaces) {
  job_report report(3);
  for (const int p : {2, 0}) {
    place_waits waits = place(p, 5);
    waits.groups.push_back({"finish at x.cpp:1", "spawned at x.cpp:2", 2, p + 1.0});
    waits.groups.push_back(
        {"latch::wait at y.cpp:" + std::to_string(p), "spawned at y.cpp:9", 3, 0});
    report.add(std::move(waits));
  }
  report.add_missing(1, 5);
  EXPECT_EQ(report.tasks(), 10u);
  EXPECT_THAT(
      report.text("now "),
      AllOf(StartsWith(
                "now 10 tasks wait: 4 in finish at x.cpp:1, spawned at x.cpp:2, for 3 s, at "
                "places 0 and 2; 3 in latch::wait at y.cpp:0, spawned at y.cpp:9, at place 0; "),
            HasSubstr("\nplace 1 has not answered for 5 s")));
}

TEST(JobReport, JoinsGraphsByNames) {
  job_report report(3);
  report.add(link(0, "a0.1", "a2.1"));
  report.add(link(1, "a1.1", "a0.1"));
  report.add(link(2, "a2.1", "a1.1"));
  const std::string text = report.text("");
  EXPECT_THAT(text, HasSubstr("\nthey wait for each other: task A (spawned at a.cpp:"));
  for (const auto* const step :
       {"b.cpp:0 for task . \\(spawned at a.cpp:1, place 1\\), which runs the body",
        "b.cpp:1 for task . \\(spawned at a.cpp:2, place 2\\)", "b.cpp:2 for task ."}) {
    EXPECT_THAT(text, testing::ContainsRegex(std::string("waits in at at ") + step));
  }
}

TEST(JobReport, WithoutACircleNoneIsTold) {
  job_report report(2);
  report.add(link(0, "a0.1", "a1.7"));
  report.add(link(1, "a1.1", "a0.1"));
  EXPECT_THAT(report.text(""), Not(HasSubstr("for each other")));
}

// Two objects of one entry, of which only one needs the task: there may be a cycle, or not.
TEST(JobReport, ACircleThatMayNotExistIsToldAsPossible) {
  job_report report(2);
  report.add(link(0, "a0.1", "a1.1", 2, 1));
  report.add(link(1, "a1.1", "a0.1"));
  EXPECT_THAT(report.text(""), HasSubstr("\nsome of them may wait for each other: task A"));
}

TEST(JobReport, NamesTheMembersThatHaveNotCalled) {
  job_report report(4);
  for (const int p : {0, 1, 3}) {
    place_waits waits = place(p);
    waits.teams.push_back({"t", p == 3 ? 6U : 7U, p != 3, "barrier at x.cpp:3", {0, 1, 2, 3}});
    report.add(std::move(waits));
  }
  EXPECT_THAT(report.text(""),
              EndsWith("\nplaces 0 and 1 wait in barrier at x.cpp:3 of a team for places 2 and 3, "
                       "and places 2 and 3 have not called it"));
}

TEST(JobReport, AnOnlyPlaceIsNotNamed) {
  job_report report(1);
  place_waits waits = place(0);
  waits.groups.push_back({"finish", "main", 1, 0});
  waits.running.emplace_back("worker 0 runs tasks");
  report.add(std::move(waits));
  EXPECT_EQ(report.text(""), "1 task waits: 1 in finish, main\nworker 0 runs tasks");
}

}  // namespace
}  // namespace apgas::test

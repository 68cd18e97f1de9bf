// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/job_report.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job_parts.hpp"

// The report over all places, made of what each place has sent.
namespace apgas::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(JobReport, NamesPlacesInRanges) {
  EXPECT_EQ(scheduler::places_text({3}), "place 3");
  EXPECT_EQ(scheduler::places_text({0, 1}), "places 0 and 1");
  EXPECT_EQ(scheduler::places_text({0, 2, 3, 4, 5, 7}), "places 0, 2 to 5 and 7");
}

TEST(JobReport, MergesEqualGroupsOfSeveralPlaces) {
  job_report report(3);
  for (const int p : {2, 0}) {
    place_waits waits = place(p, 5);
    waits.groups.push_back({"finish at x.cpp:1", "spawned at x.cpp:2", 2, p + 1.0, false});
    waits.groups.push_back(
        {"latch::wait at y.cpp:" + std::to_string(p), "spawned at y.cpp:9", 3, 0, false});
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
    waits.teams.push_back(waits_in("t", p == 3 ? 6 : 7, ""));
    waits.teams[0].waits = p != 3;
    waits.teams[0].members = {0, 1, 2, 3};
    report.add(std::move(waits));
  }
  EXPECT_THAT(report.text(""),
              EndsWith("\nplaces 0 and 1 wait in barrier at b.cpp:1 of a team for places 2 and 3, "
                       "and places 2 and 3 have not called it"));
}

TEST(JobReport, ACircleLeadsThroughACollective) {
  EXPECT_THAT(collective().text(),
              AllOf(HasSubstr("\nthey wait for each other: task "),
                    HasSubstr(" waits in a collective of a team at b.cpp:1 for task "),
                    HasSubstr(", which is at a place that has not called it"),
                    HasSubstr(" waits in finish at b.cpp:2 for task ")));
}

TEST(JobReport, AnotherTaskOfTheAbsentMemberMayCallTheCollective) {
  collective c;
  c.absent.objects.push_back(object("", 1));
  c.absent.graph_tasks.push_back({"spawned at a.cpp:3", "semaphore::acquire", "b.cpp:3", 1, 1, ""});
  EXPECT_THAT(c.text(), Not(HasSubstr("for each other")));
}

TEST(JobReport, ATaskOfAThirdPlaceMaySpawnTheOneThatCalls) {
  EXPECT_THAT(collective().text({other_task(2)}),
              HasSubstr("\nsome of them may wait for each other: task "));
}

TEST(JobReport, AMemberWithoutTasksIsInNoCircle) {
  collective c;
  c.absent = place(1);
  EXPECT_THAT(c.text(), AllOf(Not(HasSubstr("for each other")), HasSubstr("place 1 has not")));
}

TEST(JobReport, AMemberThatHasCalledIsInNoCircle) {
  collective c;
  c.absent.teams[0].calls = 3;
  EXPECT_THAT(c.text(), Not(HasSubstr("for each other")));
}

TEST(JobReport, APlaceThatComputesMayGoOn) {
  place_waits computes = place(2);
  computes.asleep = false;
  EXPECT_THAT(collective().text({computes}),
              HasSubstr("\nsome of them may wait for each other: task "));
}

TEST(JobReport, ACircleOverPlacesWhileOthersRunIsPossible) {
  for (const bool first_sleeps : {false, true}) {
    job_report report(2);
    for (place_waits p : {link(0, "a0.1", "a1.1"), link(1, "a1.1", "a0.1")}) {
      p.asleep = first_sleeps && p.place == 0;
      report.add(std::move(p));
    }
    EXPECT_THAT(report.text(""), HasSubstr("\nsome of them may wait for each other: task A ("));
  }
}

TEST(JobReport, ACircleLeadsThroughTwoCollectives) {
  collective c;
  c.absent.objects = {object("t1.1", 1)};
  c.absent.teams.push_back(waits_in("u", 1, "t1.1"));
  EXPECT_THAT(c.text(), HasSubstr("\nthey wait for each other: task A (spawned at a.cpp:"));
}

TEST(JobReport, AnOnlyPlaceIsNotNamed) {
  job_report report(1);
  place_waits waits = place(0);
  waits.groups.push_back({"finish", "main", 1, 0});
  waits.running.emplace_back("worker 0 runs tasks");
  report.add(std::move(waits));
  EXPECT_EQ(report.text(""), "1 task waits: 1 in finish, main\nworker 0 runs tasks");
}

// A place at which tasks wait in a finish, each task for an object of its own; `awaited` tasks wait
// in a latch, and the first object needs them.
struct awaiting {
  place_waits waits = place(0);

  explicit awaiting(const std::string& kind = "") {
    waits.groups.push_back({"finish at b.cpp:1", "main", 1, 0});
    waits.objects = {object("f1", 1)};
    waits.objects[0].kind = kind;
    waits.graph_tasks.push_back({"main", "finish", "b.cpp:1", 0, 1, ""});
  }
  awaiting& needs(std::uint64_t count, const std::string& task, const char* why,
                  std::uint32_t by = 0) {
    waits.graph_tasks.push_back({task, "latch::wait", "b.cpp:2", place_waits::none, count, ""});
    const auto entry = static_cast<std::uint32_t>(waits.graph_tasks.size() - 1);
    waits.needs.push_back({by, entry, 1, why, count});
    return *this;
  }
  std::string text(int places = 1) const {
    job_report report(places);
    report.add(waits);
    return report.text("");
  }
};

TEST(JobReport, AGroupNamesTheTaskThatItAwaits) {
  const auto report = awaiting().needs(1, "spawned at a.cpp:1", "belongs to it");
  EXPECT_EQ(report.text(),
            "1 task waits: 1 in finish at b.cpp:1, main (awaits the task that belongs to it: "
            "spawned at a.cpp:1, in latch::wait at b.cpp:2)");
  EXPECT_THAT(report.text(2), HasSubstr("1 in finish at b.cpp:1, main, at place 0 (awaits the task "
                                        "that belongs to it: spawned at a.cpp:1, place 0, in "));
}

TEST(JobReport, EqualTasksThatAGroupAwaitsAreCountedOnce) {
  EXPECT_THAT(awaiting().needs(7, "spawned at a.cpp:1", "belongs to it").text(),
              EndsWith("main (awaits 7 tasks, each of which belongs to it: spawned at a.cpp:1, in "
                       "latch::wait at b.cpp:2)"));
}

TEST(JobReport, OfManyTasksThatAGroupAwaitsTheThreeMostFrequentAreNamed) {
  awaiting report;
  for (int i = 1; i <= 5; ++i)
    report.needs(static_cast<std::uint64_t>(i), "task " + std::to_string(i), "belongs to it");
  EXPECT_THAT(report.text(), EndsWith("(awaits 15 tasks, each of which belongs to it: 5 task 5, in "
                                      "latch::wait at b.cpp:2; 4 task 4, in latch::wait at "
                                      "b.cpp:2; 3 task 3, in latch::wait at b.cpp:2; and 3 more)"));
}

TEST(JobReport, TasksThatAGroupAwaitsForDifferentReasonsHaveTheirOwn) {
  EXPECT_THAT(
      awaiting().needs(2, "task 2", "belongs to it").needs(1, "task 1", "has locked it").text(),
      EndsWith("(awaits 3 tasks: 2 task 2, in latch::wait at b.cpp:2, which belongs to it; task 1, "
               "in latch::wait at b.cpp:2, which has locked it)"));
}

TEST(JobReport, AGroupNamesTheObjectAndTheModeOfItsTasks) {
  awaiting report("phaser");
  report.waits.objects[0].made = "b.cpp:9";
  report.waits.objects[0].phase = 7;
  EXPECT_THAT(report.text(), EndsWith("main (phase 7 of the phaser made at b.cpp:9)"));
  report.waits.graph_tasks[0].mode = "wait";
  EXPECT_THAT(report.needs(1, "task 1", "has not arrived").text(),
              EndsWith("main (registered as wait; phase 7 of the phaser made at b.cpp:9 awaits the "
                       "task that has not arrived: task 1, in latch::wait at b.cpp:2)"));
  report.waits.objects[0].phase = -1;
  report.waits.graph_tasks[0].mode = "";
  EXPECT_THAT(report.text(), HasSubstr("main (the phaser made at b.cpp:9 awaits the task"));
}

// Several objects have no common text, but the tasks that they need are counted together.
TEST(JobReport, AGroupThatWaitsForSeveralObjectsAwaitsTheTasksOfAll) {
  awaiting report("clock");
  report.waits.objects.push_back(object("f2", 1));
  for (std::size_t i = 0; i < 2; ++i) {
    report.waits.objects[i].phase = static_cast<std::int64_t>(i);
  }
  report.waits.graph_tasks.push_back({"main", "finish", "b.cpp:1", 1, 1, ""});
  report.needs(2, "task", "has not arrived").needs(3, "task", "has not arrived", 1);
  EXPECT_THAT(report.text(), EndsWith("main (awaits 5 tasks, each of which has not arrived: task, "
                                      "in latch::wait at b.cpp:2)"));
}

TEST(JobReport, ATaskThatSeveralObjectsNeedCountsOnce) {
  awaiting report("mutex");
  report.waits.objects.push_back(object("f2", 1));
  report.waits.graph_tasks.push_back({"main", "finish", "b.cpp:1", 1, 1, ""});
  report.needs(1, "task", "has locked it");
  report.waits.needs.push_back({1, report.waits.needs[0].task, 1, "has locked it", 1});
  EXPECT_THAT(report.text(), EndsWith("main (awaits the task that has locked it: task, in "
                                      "latch::wait at b.cpp:2)"));
}

TEST(JobReport, TheTasksThatAGroupAwaitsMayBeAtAnotherPlace) {
  job_report report(2);
  report.add(awaiting().waits);
  place_waits other = place(1);
  other.objects = {object("f1", 1)};
  other.graph_tasks.push_back({"spawned at a.cpp:1", "when", "", place_waits::none, 1, ""});
  other.needs.push_back({0, 0, 1, "belongs to it", 1});
  report.add(std::move(other));
  EXPECT_THAT(report.text(""), HasSubstr("(awaits the task that belongs to it: spawned at "
                                         "a.cpp:1, place 1, in when)"));
}

// The object of such a group is the state of the future, which a promise has made.
TEST(JobReport, AGroupNamesTheLineOfThePromise) {
  place_waits waits = place(0);
  waits.objects = {object("", 1)};
  waits.objects[0].kind = "promise";
  waits.objects[0].made = "p.cpp:3";
  waits.graph_tasks.push_back({"spawned at a.cpp:1", "future::get", "b.cpp:2", 0, 1, ""});
  waits.groups.push_back({"future::get at b.cpp:2", "spawned at a.cpp:1", 1, 0});
  job_report report(1);
  report.add(std::move(waits));
  EXPECT_EQ(report.text(""),
            "1 task waits: 1 in future::get at b.cpp:2, spawned at a.cpp:1 (the promise made at "
            "p.cpp:3)");
}

// Two places whose tasks need each other.
job_report circle_of_two(const char* first_name, const char* name_elsewhere, bool perhaps_another) {
  place_waits first = link(0, first_name, "a1");
  first.needs[0].perhaps_another = perhaps_another;
  job_report report(2);
  report.add(std::move(first));
  report.add(link(1, "a1", name_elsewhere));
  return report;
}

TEST(JobReport, ACircleOverPlacesIsEndlessWhileOthersRun) {
  const auto found = circle_of_two("c1.4", "c1.4", false).find_endless_wait();
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->is_certain);
  EXPECT_THAT(found->text,
              AllOf(StartsWith("some tasks wait for each other, whatever other tasks do: task A "),
                    HasSubstr("spawned at a.cpp:0, place 0"), HasSubstr("place 1"),
                    HasSubstr("\nthis is a deadlock of these tasks: ")));
}

TEST(JobReport, AnotherTaskMayEndACircle) {
  const auto found = circle_of_two("c1.4", "c1.4", true).find_endless_wait();
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->is_certain);
  EXPECT_THAT(found->text, EndsWith("\nthey can only go on if another task unlocks what one of "
                                    "them has locked"));
}

TEST(JobReport, TasksInDifferentPhasesAreNoCircle) {
  EXPECT_FALSE(circle_of_two("c1.4", "c1.5", false).find_endless_wait().has_value());
}

TEST(JobReport, ACircleOfOnePlaceIsEndlessWhileOthersRun) {
  job_report report(2);
  report.add(place(0));
  place_waits other = place(1);
  other.cycle = "task A waits for itself";
  other.cycle_is_certain = true;
  report.add(std::move(other));
  const auto found = report.find_endless_wait();
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->is_certain);
  EXPECT_THAT(found->text, HasSubstr("whatever other tasks do: task A waits for itself\nthis is"));
}

}  // namespace
}  // namespace apgas::test

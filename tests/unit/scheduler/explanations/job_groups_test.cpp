// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <apgas/scheduler/job_report.hpp>

// The groups of a report over all places, and the cycle that a place has found.
namespace apgas::test {
namespace {

using scheduler::job_report;
using scheduler::place_waits;
using testing::EndsWith;
using testing::HasSubstr;

place_waits answer_of(int place, std::uint64_t tasks) {
  place_waits p;
  p.place = place;
  p.asleep = true;
  p.tasks = tasks;
  return p;
}

TEST(JobGroups, SaysThatAWaitMayHaveLastedForLonger) {
  job_report report(2);
  for (const int p : {0, 1}) {
    place_waits waits = answer_of(p, 1);
    waits.groups.push_back({"finish at x.cpp:1", "main", 1, p + 1.9, p == 1});
    report.add(std::move(waits));
  }
  EXPECT_THAT(report.text(""), HasSubstr("main, for at least 2 s, at places 0 and 1"));
}

TEST(JobGroups, HasAllGroupsOfWhichTheTextHasTwenty) {
  job_report report(2);
  for (const int p : {0, 1}) {
    place_waits waits = answer_of(p, 100);
    for (int i = 0; i < 100; ++i)
      waits.groups.push_back({"finish", "task " + std::to_string(i), 1, 0, false});
    report.add(std::move(waits));
  }
  EXPECT_THAT(report.text(""), EndsWith("; and 160 more tasks in other groups"));
  const std::vector<job_report::group> all = report.groups();
  ASSERT_EQ(all.size(), 100u);
  for (const job_report::group& g : all) {
    EXPECT_EQ(g.waits.count, 2u);
    EXPECT_EQ(g.places, (std::vector<int>{0, 1}));
  }
}

TEST(JobGroups, ACircleOfAPlaceWhileOthersRunIsThatOfSome) {
  for (const bool certain : {false, true}) {
    job_report report(1);
    place_waits p = answer_of(0, 2);
    p.asleep = false;
    p.cycle = "task A waits";
    p.cycle_is_certain = certain;
    report.add(std::move(p));
    EXPECT_THAT(report.text(""),
                EndsWith(certain ? "\nsome of them wait for each other: task A waits"
                                 : "\nsome of them may wait for each other: task A waits"));
  }
}

}  // namespace
}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <apgas/scheduler/job_report.hpp>

// The list of edges, made of what each place has sent.
namespace apgas::test {
namespace {

using scheduler::job_report;
using scheduler::place_waits;
using scheduler::wait_edges;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t plenty = 100;

place_waits::object object(std::string name, std::uint64_t count = 1) {
  place_waits::object o;
  o.name = std::move(name);
  o.count = count;
  return o;
}

// Place 0, where main waits for the finish f1; and place 1, where a task that belongs to it runs
// and two others wait for a phase.
struct two_places {
  place_waits home;
  place_waits other;

  two_places() {
    home.tasks = 1;
    home.objects = {object("f1")};
    home.graph_tasks.push_back({"main", "finish", "a.cpp:1", 0, 1, ""});
    other.place = 1;
    other.tasks = 2;
    other.objects = {object("f1"), object("c1.0")};
    other.objects[1].kind = "clock";
    other.objects[1].made = "a.cpp:9";
    other.objects[1].phase = 0;
    other.graph_tasks.push_back(
        {"spawned at a.cpp:2", place_waits::runs, "", place_waits::none, 1, ""});
    other.graph_tasks.push_back({"spawned at a.cpp:3", "a phase of a clock", "a.cpp:4", 1, 2, ""});
    other.needs.push_back({0, 0, 1, "belongs to it", 1});
    other.needs.push_back({0, 1, 1, "belongs to it", 2});
    other.running.push_back("worker 0 runs the task spawned at a.cpp:2");
  }
  job_report report() const {
    job_report all(3);
    all.add(home);
    all.add(other);
    return all;
  }
};

TEST(WaitEdges, AreALineForEachKindOfTaskThatIsAwaited) {
  job_report report = two_places().report();
  report.add_missing(2, 5);
  EXPECT_THAT(report.edges_text(report.edges(plenty), plenty),
              StartsWith("3 tasks wait\n"
                         "place 1: 2 tasks in a phase of a clock at a.cpp:4, spawned at a.cpp:3 "
                         "(phase 0 of the clock made at a.cpp:9), await no task that is known\n"
                         "place 0: 1 task in finish at a.cpp:1, main, awaits 2 tasks, each of "
                         "which belongs to it: spawned at a.cpp:3, place 1, in a phase of a clock "
                         "at a.cpp:4\n"
                         "place 0: 1 task in finish at a.cpp:1, main, awaits the task that belongs "
                         "to it: spawned at a.cpp:2, place 1, which runs\n"
                         "place 1: worker 0 runs the task spawned at a.cpp:2\n"
                         "place 2 has not answered for 5 s"));
}

TEST(WaitEdges, HaveTheirPartsAsValues) {
  const wait_edges all = two_places().report().edges(plenty);
  ASSERT_EQ(all.edges.size(), 3u);
  const scheduler::wait_edge& e = all.edges[2];
  EXPECT_EQ(e.construct + " " + e.where, "finish a.cpp:1");
  EXPECT_EQ(e.tasks, 1u);
  EXPECT_EQ(e.place, 0);
  EXPECT_EQ(e.awaited_tasks, 1u);
  EXPECT_EQ(e.awaited_place, 1);
  EXPECT_EQ(e.awaited_task, "spawned at a.cpp:2");
  EXPECT_EQ(e.awaited_construct, place_waits::runs);
  EXPECT_EQ(all.edges[0].awaited_tasks, 0u);
}

TEST(WaitEdges, NameTheMembersThatHaveNotCalled) {
  place_waits waits;
  waits.tasks = 1;
  waits.objects = {object("t1")};
  waits.graph_tasks.push_back({"main", "a collective of a team", "b.cpp:1", 0, 1, ""});
  place_waits::team team;
  team.name = "t";
  team.calls = 3;
  team.waits = true;
  team.members = {0, 1, 2};
  team.object = "t1";
  waits.teams.push_back(team);
  job_report report(3);
  report.add(waits);
  const wait_edges all = report.edges(plenty);
  ASSERT_EQ(all.edges.size(), 1u);
  EXPECT_EQ(all.edges[0].absent, (std::vector{1, 2}));
  EXPECT_THAT(all.edges[0].text, HasSubstr(", main, awaits the call of places 1 and 2"));
}

TEST(WaitEdges, OfEachConstructSoManyAreListedAndTheOthersCounted) {
  place_waits waits;
  for (std::uint32_t i = 0; i < 30; ++i) {
    waits.objects.push_back(object(""));
    waits.graph_tasks.push_back({"spawned at a.cpp:" + std::to_string(i), i < 28 ? "latch" : "when",
                                 "b.cpp:1", i, i + 1, ""});
  }
  job_report report(1);
  report.add(waits);
  const wait_edges some = report.edges(20);
  EXPECT_EQ(some.edges.size(), 22u);
  EXPECT_EQ(some.edges[0].tasks, 28u);  // the largest first
  ASSERT_EQ(some.left_out.size(), 1u);
  EXPECT_EQ(some.left_out[0].edges, 8u);
  const auto more = [](int edges) {
    return HasSubstr("\nand " + std::to_string(edges) +
                     " more edges of tasks in latch\n30 tasks in when at b.cpp:1");
  };
  EXPECT_THAT(report.edges_text(some, 20), more(8));
  EXPECT_THAT(report.edges_text(some, 19), more(9));
}

}  // namespace
}  // namespace apgas::test

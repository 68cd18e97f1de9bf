// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hang_explanation.hpp"
#include "job_parts.hpp"

// A wait-for graph has a limit. What is left out of it makes no other task seem to wait for ever.
namespace apgas::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(LargeGraphs, LeaveOutTheTasksForWhichTheyHaveNoNode) {
  constexpr std::size_t nodes = 4;
  scheduler::hang_explanation explanation(nullptr, scheduler::graph_scope::all_tasks,
                                          scheduler::graph_purpose::cycle, nodes);
  const std::array<char, 10> objects{};
  for (const char& each : objects) explanation.add({}, nullptr, {"latch::wait", &each});
  scheduler::place_waits found;
  explanation.explain(found);
  EXPECT_EQ(found.graph_tasks.size(), nodes);
  EXPECT_EQ(found.not_in_graph, objects.size() - nodes);
}

TEST(LargeGraphs, HaveNodesForAllEqualTasks) {
  scheduler::hang_explanation explanation(nullptr, scheduler::graph_scope::all_tasks,
                                          scheduler::graph_purpose::cycle, 2);
  const char object{};
  for (int i = 0; i < 10; ++i) explanation.add({}, nullptr, {"latch::wait", &object});
  scheduler::place_waits found;
  explanation.explain(found);
  ASSERT_EQ(found.graph_tasks.size(), 1U);
  EXPECT_EQ(found.graph_tasks[0].count, 10U);
  EXPECT_EQ(found.not_in_graph, 0U);
}

TEST(LargeGraphs, ATaskThatIsLeftOutMayCallTheCollective) {
  collective c;
  c.absent.not_in_graph = 7;
  EXPECT_THAT(c.text(), AllOf(Not(HasSubstr("for each other")),
                              HasSubstr("\nplace 1: so many tasks wait in different ways that 7 of "
                                        "them are only counted: ")));
}

TEST(LargeGraphs, ATaskThatIsLeftOutMaySpawnTheOneThatCalls) {
  place_waits more = other_task(2);
  more.graph_tasks.clear();
  more.not_in_graph = 1;
  EXPECT_THAT(collective().text({more}),
              HasSubstr("\nsome of them may wait for each other: task "));
}

}  // namespace
}  // namespace apgas::test

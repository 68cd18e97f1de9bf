// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/remedy.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace apgas::test {
namespace {

using scheduler::remedy_for;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(Remedy, DependsOnHowTheTasksOfACycleNeedEachOther) {
  const auto of = [](std::string_view relation) {
    return remedy_for(std::string("2 tasks wait: 1 in latch::wait\nthey wait for each other: task "
                                  "A waits for task B, which ")
                          .append(relation)
                          .append("; task B waits for task A\nplace 1: has locked it"));
  };
  EXPECT_TRUE(has(of("is registered on it and has not arrived"), "drop the clock or phaser"));
  EXPECT_TRUE(has(of("has locked it"), "in the same order"));
  EXPECT_EQ(of("computes its value"), "take out one of these waits");
}

TEST(Remedy, NamesTheTaskThatShouldHaveActed) {
  EXPECT_TRUE(has(remedy_for("2 in a phase of a clock at a.cpp:3; 1 in semaphore::acquire at "
                             "a.cpp:4, main"),
                  "semaphore::release"));
  EXPECT_TRUE(has(remedy_for("1 in channel::send at a.cpp:3, main"), "received"));
  EXPECT_TRUE(has(remedy_for("1 in a phase of a clock at a.cpp:3, main"), "drop or advance"));
}

TEST(Remedy, IsNeverEmpty) { EXPECT_NE(remedy_for(""), ""); }

}  // namespace
}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "cores_watch.hpp"

// When the scheduler looks at the cores of its workers, and which changes it sees. That a program
// prints a line is tested by cores_change_test.py.
namespace apgas::test {
namespace {

using namespace std::chrono_literals;
using scheduler::cores_watch;

TEST(CoresWatch, TheFirstLookIsDueAtOnceAndTheNextAfterAQuarterOfASecond) {
  cores_watch watch;
  const cores_watch::time now = std::chrono::steady_clock::now();
  EXPECT_TRUE(watch.is_due(now));
  static_cast<void>(watch.look(now, {0, 1}));
  EXPECT_FALSE(watch.is_due(now + 249ms));
  EXPECT_TRUE(watch.is_due(now + 250ms));
}

TEST(CoresWatch, SaysWhichCoresTheWorkersHadBefore) {
  cores_watch watch;
  const cores_watch::time now{};
  EXPECT_FALSE(watch.look(now, {0, 1, 2}).any) << "the first look has nothing to compare with";
  EXPECT_FALSE(watch.look(now, {0, 1, 2}).any);
  const auto smaller = watch.look(now, {1});
  EXPECT_TRUE(smaller.any && smaller.first);
  EXPECT_EQ(smaller.before, (std::vector{0, 1, 2}));
  const auto larger = watch.look(now, {1, 2});
  EXPECT_TRUE(larger.any);
  EXPECT_FALSE(larger.first) << "the line is printed once";
  EXPECT_EQ(larger.before, std::vector{1});
}

}  // namespace
}  // namespace apgas::test

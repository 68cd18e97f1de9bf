// SPDX-License-Identifier: Apache-2.0
// Assertions and fatal errors: the line they print, and how they end the job.
#include <apgas/base/assert.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace base = apgas::base;

TEST(Assert, PassesWithoutAnEffect) {
  int evaluated = 0;
  APGAS_ASSERT(++evaluated == 1);
  APGAS_ASSERT(++evaluated == 2, "with a text");
  EXPECT_EQ(evaluated, 2);
}

TEST(AssertDeathTest, PrintsLocationExpressionAndText) {
  EXPECT_DEATH(APGAS_ASSERT(1 + 1 == 3, "arithmetic"),
               "^apgas: .*assert_test.cpp:[0-9]+: assertion `1 \\+ 1 == 3' failed: arithmetic\n$");
}

TEST(AssertDeathTest, UnreachablePrintsItsText) {
  EXPECT_DEATH(APGAS_UNREACHABLE("no such state"), "`unreachable' failed: no such state");
}

TEST(AssertDeathTest, HooksSupplyTheContextAndEndTheJob) {
  auto failing = [] {
    base::set_fatal_hooks([] { return std::string("place 7"); },
                          [](int code) { std::_Exit(40 + code); });
    APGAS_ASSERT(false);
  };
  EXPECT_EXIT(failing(), testing::ExitedWithCode(40 + base::fatal_exit_code),
              "^apgas: place 7: .*assertion `false' failed\n$");
}

TEST(AssertDeathTest, AContextHookThatThrowsIsIgnored) {
  auto failing = [] {
    base::set_fatal_hooks([]() -> std::string { throw std::runtime_error("no task"); }, nullptr);
    base::fatal("lost the network");
  };
  EXPECT_DEATH(failing(), "^apgas: lost the network\n$");
}

TEST(AssertDeathTest, AFailureInsideAHookAbortsAtOnce) {
  auto failing = [] {
    base::set_fatal_hooks(nullptr, [](int) { base::fatal("second"); });
    base::fatal("first");
  };
  EXPECT_EXIT(failing(), testing::KilledBySignal(SIGABRT), "^apgas: first\n$");
}

TEST(AssertDeathTest, AFailureInAnotherThreadPrintsNothing) {
  auto failing = [] {
    base::set_fatal_hooks(nullptr, [](int) {
      std::thread([] { base::fatal("second"); }).detach();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    base::fatal("first");
  };
  EXPECT_EXIT(failing(), testing::KilledBySignal(SIGABRT), "^apgas: first\n$");
}

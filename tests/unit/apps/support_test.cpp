// SPDX-License-Identifier: Apache-2.0

// The last line of an app, and its exit code. The apps verify their results themselves, so no run
// of a correct app shows what happens to a wrong one. And the inputs that an app refuses because
// they do not fit into memory.

#include <limits>

#include <gtest/gtest.h>

#include "support/kernel_outcome.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"

namespace {

struct outcome {
  int code;
  std::string output;
  std::string errors;
};

outcome report(bool verified) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = apps::report("comd", {.places = 2, .workers = 1}, 0.5, verified,
                                {{"energy", -3.5}, {"variant", std::string("forall")}});
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(Report, VerifiedResult) {
  const outcome found = report(true);
  EXPECT_EQ(found.code, 0);
  EXPECT_EQ(found.output,
            "{\"app\":\"comd\",\"places\":2,\"workers\":1,\"seconds\":0.5,\"verified\":true,"
            "\"energy\":-3.5,\"variant\":\"forall\"}\n");
  EXPECT_EQ(found.errors, "");
}

TEST(Report, WrongEnergyEndsWithALineAndCode1) {
  const outcome found = report(false);
  EXPECT_EQ(found.code, 1);
  EXPECT_NE(found.output.find("\"verified\":false"), std::string::npos);
  EXPECT_EQ(found.errors, "comd: the result is not the expected one, or could not be checked\n");
}

TEST(KernelOutcome, AValueThatIsNotThePublishedOneIsNotVerified) {
  EXPECT_TRUE(apps::compare(1, 10, 0.5, 0.5, 1e-12).verified);
  EXPECT_TRUE(apps::compare(1, 10, 100.1, 100, 1e-2).verified);
  EXPECT_FALSE(apps::compare(1, 10, 100.1, 100, 1e-4).verified);
  EXPECT_FALSE(apps::compare(1, 10, -0.5, 0.5, 1e-12).verified);
  EXPECT_FALSE(apps::compare(1, 10, 0, 0.5, 1e-12).verified);
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(apps::compare(1, 10, no_number, 0.5, 1e-12).verified);
  EXPECT_NEAR(apps::compare(1, 10, 101, 100, 1e-4).error, 0.01, 1e-15);
}

TEST(Memory, WhatFitsAndWhatDoesNot) {
  EXPECT_EQ(apps::beyond_memory(1e6), "");
  const std::string problem = apps::beyond_memory(1e18);
  EXPECT_TRUE(problem.starts_with("needs about 931322575 GiB of memory, and this machine has "));
  EXPECT_TRUE(problem.ends_with(" GiB"));
}

}  // namespace

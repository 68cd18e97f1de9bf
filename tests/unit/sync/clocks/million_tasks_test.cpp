// SPDX-License-Identifier: Apache-2.0

// A million tasks wait on one clock at the same time, in less than 8 GB.

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <apgas/clock.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

// A value of /proc/self/status, in bytes.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key && status >> kilobytes) return kilobytes * 1024;
  }
  return -1;
}

TEST(Clock, AMillionTasks) {
  const int tasks = apgas::test::scaled(1'000'000, 1'500, 10'000);
  apgas::test::run_tasks(2, [tasks] {
    std::atomic<int> passed{0};
    apgas::finish([&] {
      auto c = apgas::clock::make();
      for (int i = 0; i < tasks; ++i) {
        apgas::async(apgas::clocked(c), [&passed, c] {
          c.advance();
          c.advance();
          ++passed;
        });
      }
    });
    EXPECT_EQ(passed, tasks);
  });
  const std::int64_t memory = status_bytes("VmHWM:");
  const std::int64_t page_tables = status_bytes("VmPTE:");
  ASSERT_GT(memory, 0);
  ASSERT_GE(page_tables, 0);
  EXPECT_LT(memory + page_tables, std::int64_t{8} << 30);
}

}  // namespace

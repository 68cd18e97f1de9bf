// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <apgas/forall.hpp>

#include "support/scheduler_fixture.hpp"

// The memory of a worker, which docs/scaling.md states. That so many workers run every construct is
// tested by places_thousand_workers_test.
namespace apgas::test {
namespace {

constexpr int workers = 1024;

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

scheduler::config all_workers() {
  scheduler::config settings = task_place::config_for(workers);
  settings.oversubscribed = true;
  return settings;
}

TEST(ManyWorkers, TakeLessThan128KiBEach) {
  const std::size_t before = resident_bytes();
  task_place place(all_workers());
  place.run([] { forall(0, 10'000, [](int) {}, 1); });
  const std::size_t each = (resident_bytes() - before) / workers;
  EXPECT_LT(each, 128U << 10U);
  RecordProperty("bytes_of_a_worker", std::to_string(each));
}

}  // namespace
}  // namespace apgas::test

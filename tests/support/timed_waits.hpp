// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests of waits: tasks that race with a deadline, and operations that are refused.

#include <chrono>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <apgas/errors.hpp>

#include "support/scheduler_fixture.hpp"

namespace apgas::test {

// Runs test() as the root task of places with one worker and with several.
template <class Test>
void for_workers(Test test) {
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [&] { test(); });
  }
}

// Random time limits close to the event that ends the wait: in the time that a few operations take.
class random_limit {
 public:
  explicit random_limit(int seed) : engine_(static_cast<unsigned>(seed) + 1) {}
  std::chrono::microseconds operator()() { return std::chrono::microseconds(limit_(engine_)); }

 private:
  std::minstd_rand engine_;
  std::uniform_int_distribution<int> limit_{1, 60};
};

// Calls operation(), which must throw an illegal_operation whose message contains `text`.
template <class F>
void expect_illegal(const std::string& text, F operation) {
  try {
    static_cast<void>(operation());
    ADD_FAILURE() << text << ": was allowed";
  } catch (const illegal_operation& refused) {
    EXPECT_NE(std::string(refused.what()).find(text), std::string::npos) << refused.what();
  }
}

}  // namespace apgas::test

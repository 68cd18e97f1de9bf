// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Calls that only a task may make are refused in other threads and in critical sections.
namespace apgas::test {
namespace {

using call = std::pair<const char*, std::function<void()>>;

const call calls[] = {
    {"async", [] { async([] {}); }},
    {"finish", [] { finish([] {}); }},
    {"fork_join", [] { fork_join([] {}, [] {}); }},
    {"forall", [] { forall(0, 10, [](int) {}); }},
    {"coforall", [] { coforall(0, 10, [](int) {}); }},
    {"parallel_reduce",
     [] {
       parallel_reduce(0, 10, 0, [](int i) { return i; }, [](int a, int b) { return a + b; });
     }},
    {"yield", [] { yield(); }},
};

void expect_refusals(const std::string& why) {
  for (const auto& [operation, f] : calls) {
    try {
      f();
      ADD_FAILURE() << operation << " was accepted";
    } catch (const illegal_operation& e) {
      EXPECT_NE(std::string(e.what()).find(operation), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  }
}

TEST(ForeignThread, IsRefusedCallsThatOnlyATaskMayMake) {
  expect_refusals("outside a task");  // no scheduler yet
  task_place place(2);
  expect_refusals("outside a task");
  std::thread([] { expect_refusals("outside a task"); }).join();
  place.run([] { std::thread([] { expect_refusals("outside a task"); }).join(); });
}

TEST(ForeignThread, HasNoCurrentFiber) {
  EXPECT_EQ(scheduler::current_fiber(), nullptr);
  run_tasks(1, [] { EXPECT_NE(scheduler::current_fiber(), nullptr); });
  EXPECT_EQ(scheduler::current_fiber(), nullptr);
}

TEST(AtomicSection, RefusesSpawnsAndSuspensions) {
  run_tasks(2, [] {
    as_if_atomic([] { expect_refusals("inside a critical section"); });
    int ran = 0;
    finish([&] { async([&] { ++ran; }); });
    EXPECT_EQ(ran, 1);
  });
}

}  // namespace
}  // namespace apgas::test

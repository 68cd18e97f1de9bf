// SPDX-License-Identifier: Apache-2.0
#include <apgas/blocking.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Tests calls on helper threads.
namespace {

using apgas::async;
using apgas::blocking;
using apgas::test::run_tasks;

struct callable_once {
  std::unique_ptr<int> value;
  int operator()() && { return *value; }
};

TEST(blocking, returns_values_of_every_kind) {
  run_tasks(1, [] {
    int target = 0;
    EXPECT_EQ(blocking([] { return std::string("s"); }), "s");
    EXPECT_EQ(*blocking([] { return std::make_unique<int>(4); }), 4);
    EXPECT_EQ(&blocking([&]() -> int& { return target; }), &target);
    blocking([&] { target = 5; });
    EXPECT_EQ(target, 5);
    callable_once once{std::make_unique<int>(6)};
    EXPECT_EQ(blocking(std::move(once)), 6);
  });
}

TEST(blocking, rethrows_the_exception) {
  run_tasks(1, [] {
    EXPECT_THROW(blocking([] { throw std::length_error("far"); }), std::length_error);
    EXPECT_THROW(blocking([]() -> int { throw 1; }), int);
  });
}

TEST(blocking, runs_on_another_thread_and_outside_tasks) {
  run_tasks(1, [] {
    const auto worker = std::this_thread::get_id();
    EXPECT_NE(blocking([] { return std::this_thread::get_id(); }), worker);
    EXPECT_THROW(blocking([] { async([] {}); }), apgas::illegal_operation);
  });
}

TEST(blocking, does_not_block_the_only_worker) {
  run_tasks(1, [] {
    std::promise<int> from_a_task;
    async([&] { from_a_task.set_value(3); });
    EXPECT_EQ(blocking([&] { return from_a_task.get_future().get(); }), 3);
  });
}

TEST(blocking, many_calls_wait_for_each_other) {
  run_tasks(2, [] {
    constexpr int n = 20;
    std::atomic<int> inside{0};
    apgas::finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&] {
          blocking([&] {
            ++inside;
            while (inside < n) std::this_thread::yield();
          });
        });
      }
    });
    EXPECT_EQ(inside, n);
  });
}

TEST(blocking, calls_may_return_at_once) {
  run_tasks(2, [] {
    std::atomic<int> calls{0};
    apgas::finish([&] {
      for (int i = 0; i < 500; ++i) {
        async([&] { blocking([&] { ++calls; }); });
      }
    });
    EXPECT_EQ(calls, 500);
  });
}

TEST(blocking, misuse) {
  run_tasks(1, [] {
    apgas::test::as_if_atomic([] { EXPECT_THROW(blocking([] {}), apgas::illegal_operation); });
  });
  EXPECT_THROW(blocking([] {}), apgas::illegal_operation);
}

}  // namespace

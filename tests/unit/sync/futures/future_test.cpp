// SPDX-License-Identifier: Apache-2.0
#include <apgas/future.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Tests futures, promises, and the tasks that set them.
namespace {

using namespace std::chrono_literals;
using apgas::async;
using apgas::async_future;
using apgas::test::run_tasks;
using apgas::test::scaled;

static_assert(std::is_same_v<decltype(std::declval<apgas::future<int>>().get()), const int&>);
static_assert(std::is_same_v<decltype(std::declval<apgas::future<int&>>().get()), int&>);
static_assert(std::is_same_v<decltype(std::declval<apgas::future<void>>().get()), void>);
static_assert(std::is_same_v<decltype(async_future([]() -> std::string&& { throw 0; })),
                             apgas::future<std::string>>);
static_assert(std::is_copy_constructible_v<apgas::future<std::unique_ptr<int>>>);

TEST(future, every_kind_of_value) {
  for (int workers = 1; workers <= 2; ++workers) {
    run_tasks(workers, [] {
      int target = 0;
      const auto value = async_future([] { return std::string("value"); });
      const auto nothing = async_future([&] { target = 1; });
      const auto reference = async_future([&]() -> int& { return target; });
      const auto move_only = async_future([] { return std::make_unique<int>(7); });
      EXPECT_EQ(value.get(), "value");
      nothing.get();
      EXPECT_EQ(&reference.get(), &target);
      EXPECT_EQ(target, 1);
      EXPECT_EQ(*move_only.get(), 7);
      EXPECT_EQ(&value.get(), &value.get()) << "the same object every time";
      const auto copy = value;
      EXPECT_EQ(&copy.get(), &value.get());
    });
  }
}

TEST(future, a_closure_may_be_move_only) {
  run_tasks(1, [] {
    auto payload = std::make_unique<int>(5);
    EXPECT_EQ(async_future([p = std::move(payload)] { return *p + 1; }).get(), 6);
  });
}

TEST(future, an_exception_goes_to_the_future_and_not_to_the_finish) {
  run_tasks(2, [] {
    apgas::future<int> failed;
    EXPECT_NO_THROW(apgas::finish([&] {
      failed = async_future([]() -> int { throw std::out_of_range("mine"); });
      failed.wait();
    }));
    for (int i = 0; i < 2; ++i) {
      try {
        static_cast<void>(failed.get());
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::out_of_range& e) {
        EXPECT_STREQ(e.what(), "mine");
      }
    }
  });
}

TEST(future, is_ready_before_the_children_of_its_task_run) {
  run_tasks(1, [] {
    apgas::future<int> parent;
    bool ready = false;
    apgas::finish([&] {
      parent = async_future([&] {
        async([&] { ready = parent.ready(); });
        return 1;
      });
    });
    EXPECT_TRUE(ready);
  });
}

TEST(future, the_closure_is_destroyed_before_it_is_ready) {
  run_tasks(2, [] {
    for (int i = 0; i < 200; ++i) {
      auto captured = std::make_shared<int>(i);
      const std::weak_ptr<int> watch = captured;
      const auto f = async_future([c = std::move(captured)] { return *c; });
      EXPECT_EQ(f.get(), i);
      EXPECT_TRUE(watch.expired());
    }
  });
}

TEST(future, the_value_lives_as_long_as_the_last_handle) {
  run_tasks(2, [] {
    std::weak_ptr<int> watch;
    {
      auto f = async_future([] { return std::make_shared<int>(1); });
      watch = f.get();
      auto copy = f;
      f = {};
      EXPECT_EQ(*copy.get(), 1);
    }
    EXPECT_TRUE(watch.expired());
  });
}

int fibonacci(int n) {
  if (n < 2) return n;
  const auto first = async_future([n] { return fibonacci(n - 1); });
  return fibonacci(n - 2) + first.get();
}

TEST(future, trees_of_futures_under_stealing) {
  for (int workers = 1; workers <= 3; ++workers) {
    run_tasks(workers, [] { EXPECT_EQ(fibonacci(16), 987); });
  }
}

TEST(future, ten_thousand_tasks_wait_for_one_future) {
  const int n = scaled(10'000, 3'000);
  run_tasks(2, [n] {
    apgas::promise<std::string> p;
    std::atomic<int> waiting{0};
    std::atomic<int> right{0};
    apgas::finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&, f = p.get_future()] {
          ++waiting;
          if (f.get() == "now") ++right;
        });
      }
      while (waiting < n) apgas::yield();
      EXPECT_EQ(right, 0);
      p.set_value("now");
    });
    EXPECT_EQ(right, n);
  });
}

TEST(promise, set_from_a_foreign_thread) {
  run_tasks(2, [] {
    for (int i = 0; i < 200; ++i) {
      apgas::promise<int> value;
      apgas::promise<void> nothing;
      const auto f = value.get_future();
      const auto g = nothing.get_future();
      std::thread foreign([value, nothing, i]() mutable {
        value.set_value(i);
        nothing.set_exception(std::make_exception_ptr(std::runtime_error("foreign")));
      });
      EXPECT_EQ(f.get(), i);
      EXPECT_THROW(g.get(), std::runtime_error);
      foreign.join();
    }
  });
}

TEST(promise, values_of_every_kind) {
  run_tasks(1, [] {
    int target = 3;
    apgas::promise<int&> reference;
    apgas::promise<std::unique_ptr<int>> move_only;
    apgas::promise<std::vector<int>> list;
    reference.set_value(target);
    move_only.set_value(std::make_unique<int>(4));
    list.set_value({1, 2, 3});
    EXPECT_EQ(&reference.get_future().get(), &target);
    EXPECT_EQ(*move_only.get_future().get(), 4);
    EXPECT_EQ(list.get_future().get().size(), 3U);
  });
}

TEST(promise, is_broken_when_the_last_copy_is_destroyed_unset) {
  run_tasks(2, [] {
    apgas::future<int> f;
    {
      apgas::promise<int> p;
      f = p.get_future();
      const apgas::promise<int> copy = p;
      p = {};
      EXPECT_FALSE(f.ready()) << "a copy is left";
      const apgas::promise<int> moved = std::move(copy);
    }
    EXPECT_TRUE(f.ready());
    EXPECT_THROW(f.get(), apgas::broken_promise);
  });
}

TEST(promise, waiting_tasks_get_broken_promise) {
  run_tasks(2, [] {
    auto p = std::make_unique<apgas::promise<void>>();
    std::atomic<int> told{0};
    apgas::finish([&] {
      for (int i = 0; i < 10; ++i) {
        async([&, f = p->get_future()] {
          EXPECT_THROW(f.get(), apgas::broken_promise);
          ++told;
        });
      }
      apgas::sleep_for(1ms);
      p.reset();
    });
    EXPECT_EQ(told, 10);
  });
}

TEST(promise, is_set_only_once) {
  run_tasks(1, [] {
    apgas::promise<int> p;
    p.set_value(1);
    EXPECT_THROW(p.set_value(2), apgas::illegal_operation);
    EXPECT_THROW(p.set_exception(std::make_exception_ptr(3)), apgas::illegal_operation);
    EXPECT_EQ(p.get_future().get(), 1);
  });
}

TEST(promise, one_of_many_setters_wins) {
  run_tasks(2, [] {
    for (int round = 0; round < 300; ++round) {
      apgas::promise<int> p;
      std::atomic<int> winners{0};
      std::atomic<int> winner{-1};
      apgas::finish([&] {
        for (int i = 0; i < 4; ++i) {
          async([&, p, i] {
            try {
              p.set_value(i);
              ++winners;
              winner = i;
            } catch (const apgas::illegal_operation&) {
            }
          });
        }
      });
      EXPECT_EQ(winners, 1);
      EXPECT_EQ(p.get_future().get(), winner);
    }
  });
}

struct throws_once {
  explicit throws_once(bool* now) : throws(now) {}
  throws_once(const throws_once& other) : throws(other.throws) {
    if (std::exchange(*throws, false)) throw std::runtime_error("copy");
  }
  bool* throws;
};

TEST(promise, stays_unset_when_copying_the_value_throws) {
  run_tasks(1, [] {
    bool throws = true;
    const throws_once value(&throws);
    apgas::promise<throws_once> p;
    EXPECT_THROW(p.set_value(value), std::runtime_error);
    EXPECT_FALSE(p.get_future().ready());
    p.set_value(value);
    EXPECT_EQ(p.get_future().get().throws, &throws);
  });
}

TEST(wait_for, times_out_and_succeeds) {
  run_tasks(2, [] {
    apgas::promise<int> p;
    const auto f = p.get_future();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(f.wait_for(5ms), std::future_status::timeout);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 5ms);
    EXPECT_EQ(f.wait_for(0s), std::future_status::timeout);
    EXPECT_EQ(f.wait_for(-1h), std::future_status::timeout);
    async([p] {
      apgas::sleep_for(2ms);
      p.set_value(1);
    });
    EXPECT_EQ(f.wait_for(std::chrono::hours::max()), std::future_status::ready);
    EXPECT_EQ(f.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(f.wait_for(0.5s), std::future_status::ready);
  });
}

TEST(wait_until, times_out_and_succeeds) {
  run_tasks(2, [] {
    apgas::promise<int> p;
    const auto f = p.get_future();
    const auto end = std::chrono::system_clock::now() + 5ms;
    EXPECT_EQ(f.wait_until(end), std::future_status::timeout);
    EXPECT_GE(std::chrono::system_clock::now(), end);
    EXPECT_EQ(f.wait_until(end), std::future_status::timeout) << "the time has passed";
    EXPECT_EQ(f.wait_until(std::chrono::steady_clock::time_point::min()),
              std::future_status::timeout);
    async([p] {
      apgas::sleep_for(2ms);
      p.set_value(1);
    });
    EXPECT_EQ(f.wait_until(std::chrono::steady_clock::time_point::max()),
              std::future_status::ready);
    EXPECT_EQ(f.wait_until(end), std::future_status::ready);
  });
}

TEST(wait_for, time_out_and_value_at_the_same_time) {
  run_tasks(2, [] {
    int ready = 0;
    const int rounds = scaled(2'000, 500);
    for (int i = 0; i < rounds; ++i) {
      apgas::promise<int> p;
      const auto f = p.get_future();
      async([p, i] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 40);
        while (std::chrono::steady_clock::now() < end) {
        }
        p.set_value(1);
      });
      if (f.wait_for(20us) == std::future_status::ready) ++ready;
      EXPECT_EQ(f.get(), 1);
    }
    EXPECT_GT(ready, 0);
  });
}

TEST(future, misuse) {
  apgas::future<int> ready;
  run_tasks(1, [&] {
    const apgas::future<int> empty;
    EXPECT_FALSE(empty.valid());
    EXPECT_THROW(empty.get(), apgas::illegal_operation);
    EXPECT_THROW(static_cast<void>(empty.ready()), apgas::illegal_operation);
    apgas::promise<int> p;
    const apgas::promise<int> moved = std::move(p);
    EXPECT_THROW(p.set_value(1), apgas::illegal_operation);
    EXPECT_THROW(static_cast<void>(p.get_future()), apgas::illegal_operation);
    moved.set_value(1);
    ready = moved.get_future();
    apgas::test::as_if_atomic([&] {
      EXPECT_THROW(ready.get(), apgas::illegal_operation) << "even if the value is there";
      EXPECT_THROW(ready.wait(), apgas::illegal_operation);
      EXPECT_THROW(ready.wait_for(1s), apgas::illegal_operation);
      EXPECT_THROW(ready.wait_until(std::chrono::steady_clock::now()), apgas::illegal_operation);
      EXPECT_THROW(ready.then([](auto) {}), apgas::illegal_operation);
      EXPECT_THROW(async_future([] {}), apgas::illegal_operation);
      EXPECT_THROW(apgas::async_await([] {}, ready), apgas::illegal_operation);
      EXPECT_TRUE(ready.ready());
      apgas::promise<int>().set_value(1);  // allowed, because it does not suspend
    });
  });
  EXPECT_THROW(ready.get(), apgas::illegal_operation);
  EXPECT_THROW(ready.wait(), apgas::illegal_operation);
  EXPECT_THROW(ready.wait_for(1s), apgas::illegal_operation);
  EXPECT_THROW(ready.wait_until(std::chrono::steady_clock::now()), apgas::illegal_operation);
  EXPECT_THROW(ready.then([](auto) {}), apgas::illegal_operation);
  EXPECT_THROW(async_future([] {}), apgas::illegal_operation);
  EXPECT_THROW(apgas::async_await([] {}, ready), apgas::illegal_operation);
  EXPECT_THROW(apgas::when_all(ready), apgas::illegal_operation);
  EXPECT_THROW(apgas::when_any(ready), apgas::illegal_operation);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Coroutines that wait for other places: a call, a finish over tasks there, a clock that spans
// places.
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::at_awaitable;
using apgas::place;
using apgas::task;

task<int> sum_of_ids() {
  std::vector<apgas::call_awaitable<int>> calls;
  for (place p : apgas::places()) {
    calls.push_back(at_awaitable(p, [](int x) { return x + apgas::here().id(); }, 10));
  }
  int sum = 0;
  for (auto& call : calls) sum += co_await call;
  co_return sum;
}

TEST(coroutine, awaits_calls) {
  const int n = apgas::num_places();
  EXPECT_EQ(apgas::sync_wait(sum_of_ids()), n * 10 + n * (n - 1) / 2);
  EXPECT_EQ(apgas::async_future(sum_of_ids()).get(), n * 10 + n * (n - 1) / 2);
}

task<> call_each_place(int& calls) {
  for (place p : apgas::places()) {
    const auto text = co_await at_awaitable(
        p, [](const std::string& s) { return s + std::to_string(apgas::here().id()); },
        std::string("p"));
    EXPECT_EQ(text, "p" + std::to_string(p.id()));
    bool failed = false;
    try {
      co_await at_awaitable(p, [] { throw std::out_of_range("far"); });
    } catch (const std::out_of_range&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    ++calls;
  }
}

TEST(coroutine, gets_values_and_exceptions_of_calls) {
  int calls = 0;
  apgas::finish([&] { apgas::async(call_each_place(calls)); });
  EXPECT_EQ(calls, apgas::num_places());
}

task<> await_twice() {
  auto call = at_awaitable(apgas::here(), [] { return 1; });
  EXPECT_EQ(co_await call, 1);
  static_cast<void>(co_await call);
}

TEST(coroutine, awaits_a_call_once) {
  EXPECT_THROW(apgas::sync_wait(await_twice()), apgas::illegal_operation);
}

task<> finish_over_places(apgas::global_ref<std::atomic<int>> ended) {
  co_await apgas::finish_awaitable([ended]() -> task<> {
    for (int round = 0; round < 3; ++round) {
      for (place p : apgas::places()) {
        apgas::async_at(p, [ended] {
          apgas::yield();
          apgas::at(ended.home(), [ended] { ++*ended; });
        });
      }
      co_await at_awaitable(apgas::place(apgas::num_places() - 1), [] {});
    }
  });
  EXPECT_EQ(*ended, 3 * apgas::num_places());
}

TEST(coroutine, awaits_a_finish_over_places) {
  for (int round = 0; round < 10; ++round) {
    const auto ended = apgas::make_global<std::atomic<int>>(0);
    apgas::finish([&] { apgas::async(finish_over_places(ended)); });
    EXPECT_EQ(*ended, 3 * apgas::num_places());
    ended.forget();
  }
}

task<> fail_at_places() {
  bool failed = false;
  try {
    co_await apgas::finish_awaitable([] {
      for (place p : apgas::places()) {
        apgas::async_at(p, [] { throw std::runtime_error("on purpose"); });
      }
    });
  } catch (const apgas::multiple_exceptions& e) {
    EXPECT_EQ(e.size(), static_cast<std::size_t>(apgas::num_places()));
    failed = true;
  }
  EXPECT_TRUE(failed);
}

TEST(coroutine, gets_the_exceptions_of_a_finish_over_places) {
  apgas::finish([] { apgas::async(fail_at_places()); });
}

constexpr int phases = 10;

task<> advance_at_home(apgas::clock c, int& done) {
  for (int i = 0; i < phases; ++i) co_await c.advance_awaitable();
  EXPECT_EQ(c.phase(), phases);
  ++done;
}

// At each place a task starts a coroutine that is registered, and advances as well.
void advance_everywhere(apgas::clock c, apgas::global_ref<std::atomic<int>> ended) {
  for (place p : apgas::places()) {
    apgas::async_at(
        p, apgas::clocked(c),
        [](apgas::clock of, apgas::global_ref<std::atomic<int>> count) {
          apgas::async(apgas::clocked(of), [of, count]() -> task<> {
            for (int i = 0; i < phases; ++i) co_await of.advance_awaitable();
            co_await at_awaitable(count.home(), [count] { ++*count; });
          });
          for (int i = 0; i < phases; ++i) of.advance();
        },
        c, ended);
  }
}

TEST(coroutine, awaits_the_phases_of_a_clock_over_places) {
  const auto ended = apgas::make_global<std::atomic<int>>(0);
  int done = 0;
  apgas::finish([&] {
    const auto c = apgas::clock::make();
    apgas::async(apgas::clocked(c), advance_at_home(c, done));
    advance_everywhere(c, ended);
  });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(*ended, apgas::num_places());
  ended.forget();
}

}  // namespace

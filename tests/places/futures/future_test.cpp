// SPDX-License-Identifier: Apache-2.0
// Futures of tasks at other places.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::async_future_at;
using apgas::place;
using test::check;

TEST(async_future_at, returns_values_and_exceptions) {
  for (place p : apgas::places()) {
    const auto number = async_future_at(p, [](int x) { return x + apgas::here().id(); }, 40);
    static_assert(std::is_same_v<decltype(number), const apgas::future<int>>);
    const auto text = async_future_at(
        p, [](std::string& s) -> std::string& { return s += "!"; }, std::string("yes"));
    static_assert(std::is_same_v<decltype(text), const apgas::future<std::string>>);
    const apgas::future<void> nothing = async_future_at(p, [] {});
    const auto failed = async_future_at(p, []() -> int { throw std::out_of_range("far"); });
    EXPECT_EQ(number.get(), 40 + p.id());
    EXPECT_EQ(text.get(), "yes!");
    nothing.get();
    EXPECT_THROW(failed.get(), std::out_of_range);
    EXPECT_TRUE(failed.ready());
  }
}

TEST(async_future_at, does_not_wait) {
  const auto go = apgas::make_global<std::atomic<bool>>(false);
  std::vector<apgas::future<int>> all;
  for (place p : apgas::places()) {
    all.push_back(async_future_at(p, [go] {
      while (!apgas::at(go.home(), [go] { return go->load(); })) apgas::yield();
      return apgas::here().id();
    }));
  }
  EXPECT_FALSE(all[0].ready());
  *go = true;
  int sum = 0;
  for (const auto& f : all) sum += f.get();
  EXPECT_EQ(sum, apgas::num_places() * (apgas::num_places() - 1) / 2);
}

TEST(async_future_at, is_a_task_of_the_finish) {
  const auto ended = apgas::make_global<std::atomic<int>>(0);
  for (place p : apgas::places()) {
    apgas::finish([&] {
      static_cast<void>(async_future_at(p, [ended] {
        apgas::async([ended] { apgas::at(ended.home(), [ended] { ++*ended; }); });
        apgas::yield();
        apgas::at(ended.home(), [ended] { ++*ended; });
      }));
    });
    EXPECT_EQ(ended->exchange(0), 2);
  }
  ended.forget();
}

TEST(async_future_at, composes) {
  std::vector<apgas::future<int>> squares;
  for (int i = 0; i < 100; ++i) {
    squares.push_back(
        async_future_at(place(i % apgas::num_places()), [](int x) { return x * x; }, i));
  }
  int sum = 0;
  const auto all = apgas::when_all(squares);
  for (const auto& f : all.get()) sum += f.get();
  EXPECT_EQ(sum, 328'350);
  const auto chained = async_future_at(test::last(), [] { return 20; }).then([](const auto& f) {
    return f.get() + 1;
  });
  EXPECT_EQ(chained.get(), 21);
}

TEST(async_future_at, is_called_many_times_at_many_places) {
  int each = 2000 / test::slower;
  apgas::finish([each] {
    for (place p : apgas::places()) {
      apgas::async_at(p, [each] {
        std::vector<apgas::future<int>> answers;
        for (int i = 0; i < each; ++i) {
          answers.push_back(
              async_future_at(place(i % apgas::num_places()), [](int x) { return -x; }, i));
        }
        for (int i = 0; i < each; ++i) check(answers[static_cast<std::size_t>(i)].get() == -i);
      });
    }
  });
}

// At another place the finish of a task is a remote finish; calls from that task are counted in it.
TEST(async_future_at, is_called_by_tasks_at_other_places) {
  for (int round = 0; round < 50; ++round) {
    const long sum = apgas::finish_reduce(0L, std::plus<>(), [] {
      for (place p : apgas::places()) {
        apgas::async_at(p, [] {
          const auto f = async_future_at(test::next(apgas::here()), [] {
            apgas::offer(1L);
            return 2L;
          });
          apgas::offer(f.get());
        });
      }
    });
    ASSERT_EQ(sum, 3L * apgas::num_places());
  }
}

// A task from another place sets a promise.
TEST(promise, is_set_through_a_global_ref) {
  using namespace std::chrono_literals;
  for (place p : apgas::places()) {
    const auto promised = apgas::make_global<apgas::promise<std::string>>();
    const auto f = promised->get_future();
    apgas::async_at(p, [promised] {
      apgas::sleep_for(1ms);
      apgas::at(
          promised.home(), [promised](std::string& s) { promised->set_value(std::move(s)); },
          std::string("from ") + std::to_string(apgas::here().id()));
    });
    EXPECT_EQ(f.get(), "from " + std::to_string(p.id()));
    promised.forget();
  }
}

}  // namespace

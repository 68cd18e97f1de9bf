// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <list>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/future.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Tests what combines futures: then, async_await, when_all, when_any.
namespace {

using apgas::async_await;
using apgas::async_future;
using apgas::when_all;
using apgas::when_any;
using apgas::test::run_tasks;
using apgas::test::scaled;

TEST(then, gets_the_ready_future) {
  run_tasks(2, [] {
    apgas::promise<int> p;
    const auto next = p.get_future().then([](apgas::future<int> f) {
      EXPECT_TRUE(f.ready());
      return f.get() * 2;
    });
    const auto last = next.then([](const auto& f) { return std::to_string(f.get()); });
    EXPECT_FALSE(last.ready());
    p.set_value(21);
    EXPECT_EQ(last.get(), "42");
    EXPECT_EQ(next.then([](auto f) -> const int& { return f.get(); }).get(), 42) << "ready before";
  });
}

TEST(then, passes_exceptions_on_through_get) {
  run_tasks(2, [] {
    const auto failed = async_future([]() -> int { throw std::domain_error("first"); });
    const auto passed = failed.then([](auto f) { return f.get() + 1; });
    const auto caught = passed.then([](auto f) {
      EXPECT_THROW(f.get(), std::domain_error);
      return 5;
    });
    EXPECT_THROW(passed.get(), std::domain_error);
    EXPECT_EQ(caught.get(), 5);
  });
}

TEST(then, belongs_to_the_callers_finish_from_the_call_on) {
  run_tasks(2, [] {
    apgas::promise<void> p;
    std::atomic<bool> ended{false};
    apgas::async([p] {
      apgas::sleep_for(std::chrono::milliseconds(5));
      p.set_value();
    });
    apgas::finish([&] {
      static_cast<void>(p.get_future().then([&](auto) {
        apgas::yield();
        apgas::async([&] { ended = true; });
      }));
    });
    EXPECT_TRUE(ended) << "the finish waits for the task and its children";
  });
}

TEST(then, long_chains) {
  run_tasks(2, [] {
    apgas::promise<int> p;
    auto last = p.get_future();
    for (int i = 0; i < 1000; ++i) last = last.then([](auto f) { return f.get() + 1; });
    p.set_value(0);
    EXPECT_EQ(last.get(), 1000);
  });
}

TEST(async_await, starts_when_all_futures_are_ready) {
  run_tasks(2, [] {
    for (int round = 0; round < scaled(300, 60); ++round) {
      apgas::promise<int> a;
      apgas::promise<void> b;
      const auto c = async_future([] { return std::string("c"); });
      std::atomic<bool> ran{false};
      apgas::finish([&] {
        async_await(
            [&, f = a.get_future(), g = b.get_future()] {
              EXPECT_TRUE(f.ready() && g.ready() && c.ready());
              ran = true;
            },
            a.get_future(), b.get_future(), c);
        async_await([] {});
        b.set_value();
        apgas::yield();
        EXPECT_FALSE(ran);
        std::thread foreign([a] { a.set_value(1); });
        foreign.join();
      });
      EXPECT_TRUE(ran);
    }
  });
}

// Each cell of a grid is a task that waits for its neighbours above and to the left.
TEST(async_await, wavefront) {
  static constexpr std::size_t n = 20;
  run_tasks(2, [] {
    std::vector<std::vector<apgas::promise<long>>> cells;
    for (std::size_t i = 0; i < n; ++i) cells.emplace_back(n);
    apgas::promise<long> edge;
    edge.set_value(1);
    apgas::finish([&] {
      for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = n; j-- > 0;) {
          const auto up = i == 0 ? edge.get_future() : cells[i - 1][j].get_future();
          const auto left = j == 0 ? edge.get_future() : cells[i][j - 1].get_future();
          async_await([up, left, p = cells[i][j]] { p.set_value((up.get() + left.get()) % 10007); },
                      up, left);
        }
      }
    });
    std::vector<long> row(n + 1, 1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 1; j <= n; ++j) row[j] = (row[j] + row[j - 1]) % 10007;
    }
    EXPECT_EQ(cells[n - 1][n - 1].get_future().get(), row[n]);
  });
}

TEST(async_await, failures_go_to_the_finish_with_name_and_site) {
  run_tasks(2, [] {
    for (const bool before : {true, false}) {
      apgas::promise<int> p;
      if (before) p.set_value(1);
      unsigned line = 0;
      try {
        apgas::finish([&] {
          line = std::source_location::current().line() + 1;
          async_await(apgas::name("relax"), [] { throw std::runtime_error("x"); }, p.get_future());
          if (!before) p.set_value(1);
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const apgas::multiple_exceptions& e) {
        ASSERT_EQ(e.size(), 1U);
        EXPECT_EQ(e[0].site().line, line);
        EXPECT_EQ(e[0].site().task_name, "relax");
        EXPECT_NE(e[0].site().file.find("future_group_test"), std::string::npos);
      }
    }
  });
}

TEST(when_all, combines_futures_of_several_types) {
  run_tasks(2, [] {
    apgas::promise<int> late;
    const auto all = when_all(late.get_future(), async_future([] { return std::string("x"); }),
                              async_future([] {}));
    EXPECT_FALSE(all.ready());
    late.set_value(3);
    const auto& [a, b, c] = all.get();
    EXPECT_EQ(a.get(), 3);
    EXPECT_EQ(b.get(), "x");
    EXPECT_TRUE(c.ready());
    EXPECT_TRUE(when_all().ready());
    EXPECT_TRUE(when_all(a, b).ready()) << "all were ready before";
  });
}

TEST(when_all, combines_a_range) {
  run_tasks(2, [] {
    EXPECT_TRUE(when_all(std::vector<apgas::future<int>>{}).get().empty());
    std::list<apgas::future<int>> futures;
    for (int i = 0; i < 500; ++i) futures.push_back(async_future([i] { return i; }));
    const auto all = when_all(futures);
    int expected = 0;
    for (const auto& f : all.get()) {
      EXPECT_TRUE(f.ready());
      EXPECT_EQ(f.get(), expected++);
    }
    EXPECT_EQ(expected, 500);
  });
}

TEST(when_all, a_failed_future_is_ready_and_only_its_get_throws) {
  run_tasks(2, [] {
    const auto all =
        when_all(async_future([]() -> int { throw 5; }), async_future([] { return 1; }));
    EXPECT_NO_THROW(all.get());
    EXPECT_THROW(std::get<0>(all.get()).get(), int);
    EXPECT_EQ(std::get<1>(all.get()).get(), 1);
  });
}

TEST(when_any, gives_the_index_of_the_first) {
  run_tasks(2, [] {
    const apgas::promise<int> never;
    apgas::promise<std::string> soon;
    const auto any = when_any(never.get_future(), soon.get_future());
    EXPECT_FALSE(any.ready());
    soon.set_value("s");
    EXPECT_EQ(any.get().index, 1U);
    EXPECT_EQ(std::get<1>(any.get().futures).get(), "s");
    EXPECT_FALSE(std::get<0>(any.get().futures).ready());
    EXPECT_EQ(when_any(soon.get_future(), any).get().index, 0U) << "both are ready";
  });
}

TEST(when_any, combines_a_range_or_no_futures) {
  run_tasks(2, [] {
    using nothing = std::vector<apgas::future<void>>;
    EXPECT_EQ(when_any(nothing{}).get().index, apgas::when_any_result<nothing>::none);
    std::vector<apgas::promise<int>> promises(50);
    std::vector<apgas::future<int>> futures;
    for (const auto& p : promises) futures.push_back(p.get_future());
    const auto any = when_any(futures);
    promises[30].set_value(9);
    EXPECT_EQ(any.get().index, 30U);
    EXPECT_EQ(any.get().futures[30].get(), 9);
  });
}

TEST(when_any, withdraws_from_the_futures_that_lost) {
  run_tasks(2, [] {
    const apgas::promise<void> never;
    std::weak_ptr<int> watch;
    apgas::finish([&] {  // a future is ready before the closure of its task is destroyed
      auto kept = std::make_shared<int>(1);
      watch = kept;
      const auto winner = async_future([k = std::move(kept)] { return k; });
      EXPECT_EQ(when_any(never.get_future(), winner).get().index, 1U);
    });
    EXPECT_TRUE(watch.expired());
  });
}

TEST(when_any, combines_futures_of_concurrent_setters) {
  run_tasks(3, [] {
    for (int round = 0; round < scaled(2'000, 300); ++round) {
      apgas::promise<int> a;
      apgas::promise<int> b;
      apgas::async([a] { a.set_value(0); });
      apgas::async([b] { b.set_value(1); });
      const auto any = when_any(a.get_future(), b.get_future());
      const auto all = when_all(b.get_future(), a.get_future(), any);
      const std::size_t first = any.get().index;
      EXPECT_LE(first, 1U);
      EXPECT_EQ((first == 0 ? a : b).get_future().get(), static_cast<int>(first));
      EXPECT_EQ(std::get<1>(all.get()).get(), 0);
    }
  });
}

}  // namespace

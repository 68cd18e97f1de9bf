// SPDX-License-Identifier: Apache-2.0
#include <apgas/worker_local.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/forall.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Tests worker_local.
namespace {

using apgas::async;
using apgas::worker_local;
using apgas::test::run_tasks;
using apgas::test::workers_started;

TEST(worker_local, sum_equals_count_under_stealing) {
  for (int workers = 1; workers <= 4; ++workers) {
    run_tasks(workers, [workers] {
      constexpr int n = 50'000;
      worker_local<long> counts;
      EXPECT_EQ(counts.size(), static_cast<std::size_t>(workers_started(workers)));
      apgas::finish([&] {
        for (int i = 0; i < n; ++i) {
          async([&counts, i] {
            ++*counts;
            if (i % 100 == 0) apgas::yield();
            ++*counts;
          });
        }
      });
      EXPECT_EQ(counts.reduce(std::plus<>{}), 2L * n);
    });
  }
}

TEST(worker_local, is_initialised_by_value_or_factory) {
  run_tasks(3, [] {
    const int workers = workers_started(3);
    const worker_local<std::string> copies(std::string("x"));
    EXPECT_EQ(copies.reduce(std::plus<>{}), std::string(static_cast<std::size_t>(workers), 'x'));
    int made = 0;
    const worker_local<std::unique_ptr<int>> owners([&] { return std::make_unique<int>(made++); });
    int sum = 0;
    for (const auto& p : owners) sum += *p;
    EXPECT_EQ(sum, workers * (workers - 1) / 2);
    worker_local<std::atomic<int>> immovable([] { return std::atomic<int>(2); });
    *immovable += 1;
    int total = 0;
    for (auto& a : immovable) total += a;
    EXPECT_EQ(total, 2 * workers + 1);
  });
}

TEST(worker_local, iterates_and_reduces_in_any_way) {
  run_tasks(4, [] {
    const int workers = workers_started(4);
    int next = 5;
    worker_local<int> values([&] { return next++; });
    EXPECT_EQ(values.reduce([](int a, int b) { return std::max(a, b); }), 5 + workers - 1);
    EXPECT_EQ(std::ranges::count(values, 6), 1);
    for (int& v : values) v = 1;
    EXPECT_EQ(values.reduce(std::plus<>{}), workers);
    std::vector<int> copied(values.begin(), values.end());
    EXPECT_EQ(copied.size(), static_cast<std::size_t>(workers));
  });
}

TEST(worker_local, values_have_cache_lines_of_their_own) {
  run_tasks(2, [] {
    worker_local<char> bytes;
    std::vector<std::uintptr_t> lines;
    for (char& b : bytes) lines.push_back(reinterpret_cast<std::uintptr_t>(&b) / 64);
    EXPECT_NE(lines.at(0), lines.at(1));
  });
}

TEST(worker_local, arrow_and_local_give_the_value_of_this_worker) {
  run_tasks(2, [] {
    worker_local<std::vector<int>> lists;
    lists->push_back(1);
    EXPECT_EQ(lists.local().size(), 1U);
    EXPECT_EQ(&*lists, &lists.local());
  });
}

TEST(worker_local, misuse) {
  std::unique_ptr<worker_local<int>> kept;
  apgas::test::task_place first(1);
  first.run([&] {
    kept = std::make_unique<worker_local<int>>();
    ++**kept;
  });
  EXPECT_THROW(**kept, apgas::illegal_operation);
  EXPECT_THROW(worker_local<int>(), apgas::illegal_operation);
  run_tasks(2, [&] { EXPECT_THROW(**kept, apgas::illegal_operation) << "another place"; });
  EXPECT_EQ(kept->reduce(std::plus<>{}), 1);
}

}  // namespace

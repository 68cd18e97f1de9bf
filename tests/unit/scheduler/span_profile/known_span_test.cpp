// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <support/scheduler_fixture.hpp>

#include <apgas/async.hpp>
#include <apgas/clock.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/mutex.hpp>
#include <apgas/registered_async.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "recorder.hpp"

// Programs whose work and span are known, on one worker and on several. The clock of the profile is
// an invented one, which stands still unless a task calls compute(), so that the numbers are exact,
// whichever worker runs a task and whichever task is suspended.
namespace apgas::scheduler {
namespace {

thread_local std::uint64_t computed = 0;

[[gnu::noinline]] void compute(std::uint64_t ticks) { computed += ticks; }
[[gnu::noinline]] std::uint64_t computed_here() noexcept { return computed; }

class KnownSpan : public testing::TestWithParam<int> {
 protected:
  // Runs f() as a task with the profile.
  template <class F>
  void profile(F f) {
    span_recorder recorder({.workers = GetParam(), .clock = &computed_here});
    config settings = test::task_place::config_for(GetParam());
    settings.observer = &recorder;
    {
      test::task_place place(settings);
      place.run(f);
    }
    recorder.end();
    found = recorder.summary();
  }
  span_ticks on_path(const std::string& finish) const {
    for (const finish_row& row : found.by_finish) {
      if (row.site == finish) return row.on_path;
    }
    return 0;
  }

  span_summary found;
};

std::string line_before(const char* construct, int line) {
  return std::string(construct) + " at known_span_test.cpp:" + std::to_string(line);
}

TEST_P(KnownSpan, OfASequenceIsItsWork) {
  profile([] {
    compute(30);
    finish([] { async([] { compute(70); }); });
  });
  EXPECT_EQ(found.work, 100);
  EXPECT_EQ(found.span, 100);
}

TEST_P(KnownSpan, OfIndependentTasksIsTheLongestOne) {
  int line = 0;
  profile([&line] {
    compute(5);
    line = __LINE__ + 1;
    finish([] {
      for (std::uint64_t n = 1; n <= 100; ++n) async([n] { compute(n); });
    });
    compute(6);
  });
  EXPECT_EQ(found.work, 5 + 5'050 + 6);
  EXPECT_EQ(found.span, 111);
  EXPECT_EQ(on_path(line_before("finish", line)), 100);
  ASSERT_EQ(found.by_finish.size(), 1U);
  EXPECT_EQ(found.by_finish[0].largest_work, 5'050);
  EXPECT_EQ(found.by_finish[0].largest_span, 100);
}

// The other places may end before the last tasks of this one have.
TEST_P(KnownSpan, CountsPartsThatArriveWhileTasksEnd) {
  constexpr int times = 200;
  span_recorder elsewhere({.workers = 1, .clock = &computed_here});
  elsewhere.end();
  const span_words part = elsewhere.part();
  span_recorder recorder({.workers = GetParam(), .clock = &computed_here});
  config settings = test::task_place::config_for(GetParam());
  settings.observer = &recorder;
  {
    test::task_place place(settings);
    const std::jthread receiver([&] {
      for (int i = 0; i < times; ++i) EXPECT_TRUE(recorder.add_part(part));
    });
    for (std::uint64_t i = 1; i <= times; ++i) place.run([i] { compute(i); });
  }
  recorder.end();
  found = recorder.summary();
  EXPECT_EQ(found.workers, GetParam() + times);
  EXPECT_EQ(found.span, times);
}

void fib(int n) {
  compute(1);
  if (n < 2) return;
  finish([n] {
    async([n] { fib(n - 1); });
    fib(n - 2);
  });
}

TEST_P(KnownSpan, OfFibIsItsDepth) {
  profile([] { fib(16); });
  EXPECT_EQ(found.work, 3'193);  // calls
  EXPECT_EQ(found.span, 16);
}

void joined_fib(int n) {
  compute(1);
  if (n >= 2) fork_join([n] { joined_fib(n - 1); }, [n] { joined_fib(n - 2); });
}

TEST_P(KnownSpan, OfJoinedFibIsItsDepth) {
  profile([] { joined_fib(16); });
  EXPECT_EQ(found.work, 3'193);
  EXPECT_EQ(found.span, 16);
}

TEST_P(KnownSpan, OfNestedFinishesIsSharedByThem) {
  int outer = 0;
  int inner = 0;
  profile([&] {
    outer = __LINE__ + 1;
    finish([&] {
      async([&] {
        compute(20);
        inner = __LINE__ + 1;
        finish([] {
          async([] { compute(300); });
          async([] { compute(200); });
        });
        compute(4'000);
      });
    });
  });
  EXPECT_EQ(found.work, 4'520);
  EXPECT_EQ(found.span, 4'320);
  EXPECT_EQ(on_path(line_before("finish", outer)), 4'020);
  EXPECT_EQ(on_path(line_before("finish", inner)), 300);
}

// What a recorder with an invented clock assumes (costs_in_cycles of recorder.cpp), in ticks.
constexpr span_ticks spawn_cost = 2'000;
constexpr span_ticks resume_cost = 100;

TEST_P(KnownSpan, HasNoBurdenWithoutSpawnsAndWaits) {
  profile([] { compute(30); });
  EXPECT_EQ(found.burdened_span, 30);
}

TEST_P(KnownSpan, HasABurdenOnAnotherPathThanTheLongest) {
  profile([] {
    compute(5);
    finish([] {
      async([] { compute(10); });
      compute(40);
    });
    compute(6);
  });
  EXPECT_EQ(found.span, 5 + 40 + 6);
  EXPECT_EQ(found.burdened_span, 5 + spawn_cost + 10 + resume_cost + 6);
  ASSERT_EQ(found.by_spawn_site.size(), 2U);
  const bool main_first = found.by_spawn_site[0].work == 5 + 40 + 6;
  const spawn_site_row& main = found.by_spawn_site[main_first ? 0 : 1];
  const spawn_site_row& child = found.by_spawn_site[main_first ? 1 : 0];
  EXPECT_EQ(main.on_path, 5 + 40 + 6);
  EXPECT_EQ(main.on_burdened_path, 5 + resume_cost + 6);
  EXPECT_EQ(main.burden, resume_cost);
  EXPECT_EQ(child.on_path, 0);
  EXPECT_EQ(child.on_burdened_path, spawn_cost + 10);
  EXPECT_EQ(child.burden, spawn_cost);
}

TEST_P(KnownSpan, OfFibHasTheBurdenOfEachLevel) {
  profile([] { fib(16); });
  EXPECT_EQ(found.burdened_span, 16 + 15 * (spawn_cost + resume_cost));
}

TEST_P(KnownSpan, OfAPipelineOfFuturesIsItsStagesAndItems) {
  constexpr int stages = 4;
  constexpr int items = 20;
  profile([] {
    std::vector<future<int>> done;  // of the latest item, for each stage
    for (int item = 0; item < items; ++item) {
      for (int stage = 0; stage < stages; ++stage) {
        std::vector<future<int>> before;
        if (stage > 0) before.push_back(done[static_cast<std::size_t>(stage) - 1]);
        if (item > 0) before.push_back(done[static_cast<std::size_t>(stage)]);
        auto next = async_future([before] {
          for (const future<int>& f : before) f.wait();
          compute(10);
          return 0;
        });
        if (item == 0) {
          done.push_back(next);
        } else {
          done[static_cast<std::size_t>(stage)] = next;
        }
      }
    }
    for (const future<int>& f : done) f.wait();
  });
  EXPECT_EQ(found.work, stages * items * 10);
  EXPECT_EQ(found.span, (stages + items - 1) * 10);
}

TEST_P(KnownSpan, OfPhasesIsTheSumOfTheLongestArrivals) {
  constexpr std::uint64_t tasks = 5;
  constexpr std::uint64_t phases = 10;
  const auto ticks = [](std::uint64_t phase, std::uint64_t task) {
    return (phase * 7 + task * 5) % 11;
  };
  profile([&] {
    finish([&] {
      const auto c = clock::make();
      for (std::uint64_t task = 0; task < tasks; ++task) {
        async(clocked(c), [&ticks, c, task] {
          for (std::uint64_t phase = 0; phase < phases; ++phase) {
            compute(ticks(phase, task));
            c.advance();
          }
        });
      }
    });
  });
  std::uint64_t work = 0;
  std::uint64_t span = 0;
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    std::uint64_t longest = 0;
    for (std::uint64_t task = 0; task < tasks; ++task) {
      work += ticks(phase, task);
      longest = std::max(longest, ticks(phase, task));
    }
    span += longest;
  }
  EXPECT_EQ(found.work, work);
  EXPECT_EQ(found.span, span);
}

TEST_P(KnownSpan, GoesThroughTheTaskThatResumesAnother) {
  profile([] {
    semaphore ready(0);
    finish([&] {
      async([&] {
        for (int i = 0; i < 3; ++i) yield();
        compute(100);
        ready.release();
        compute(1);
      });
      async([&] {
        compute(7);
        ready.acquire();
        compute(10);
      });
    });
  });
  EXPECT_EQ(found.work, 118);
  EXPECT_EQ(found.span, GetParam() == 1 ? 110U : found.span);  // on two, it need not wait
}

TEST_P(KnownSpan, DoesNotContainTheTimeOfWaits) {
  profile([] {
    finish([] {
      for (int i = 0; i < 10; ++i) {
        async([] {
          compute(3);
          sleep_for(std::chrono::milliseconds(1));
          compute(4);
          yield();
          compute(5);
        });
      }
    });
  });
  EXPECT_EQ(found.work, 120);
  EXPECT_EQ(found.span, 12);
}

TEST_P(KnownSpan, OfASpawnerThatIsDrainedIsItsOwn) {
  constexpr std::uint64_t tasks = 5'000;
  profile([] {
    finish([] {
      for (std::uint64_t i = 0; i < tasks; ++i) {
        compute(1);
        async([] { compute(50); });
      }
    });
  });
  EXPECT_EQ(found.work, tasks * 51);
  EXPECT_EQ(found.span, tasks + 50);
  EXPECT_EQ(found.tasks, tasks + 1);
}

TEST_P(KnownSpan, NamesSpawnSitesAndTasks) {
  int line = 0;
  profile([&line] {
    finish([&line] {
      line = __LINE__ + 1;
      for (int i = 0; i < 3; ++i) async([] { compute(10); });
      async(name("relax"), [] { compute(40); });
    });
  });
  std::vector<std::string> sites;
  for (const spawn_site_row& row : found.by_spawn_site) {
    if (row.work != 0) sites.push_back(row.site + " " + std::to_string(row.tasks));
  }
  std::ranges::sort(sites);
  EXPECT_EQ(sites, (std::vector<std::string>{
                       "\"relax\" 1", "known_span_test.cpp:" + std::to_string(line) + " 3"}));
}

INSTANTIATE_TEST_SUITE_P(Workers, KnownSpan, testing::Values(1, 2, 4));

}  // namespace
}  // namespace apgas::scheduler

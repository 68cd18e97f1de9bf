// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// External tasks, which are submitted from outside the workers: they start in the scheduling loop,
// and they are not starved.
namespace apgas::test {
namespace {

struct outside_work : scheduler::external_task {
  explicit outside_work(std::function<void()> f) : body(std::move(f)) {
    run = [](scheduler::external_task* self,
             scheduler::fiber&) noexcept -> scheduler::task_counter* {
      auto& work = *static_cast<outside_work*>(self);
      work.body();
      work.done = true;
      return nullptr;
    };
  }
  std::function<void()> body;
  std::atomic<bool> done{false};
};

// If the task ran on top of the finish, the finish could not end, and the task would wait for ever.
TEST(ExternalTask, NeverRunsOnTopOfAFinish) {
  task_place place(1);
  place.run([&] {
    std::atomic<bool> finished{false}, seen{false};
    outside_work work([&] { seen = yields_until([&] { return finished.load(); }); });
    finish([&] {
      async([] { scheduler::yield(); });
      place.tasks().submit(&work);
      async([] {
        for (int i = 0; i < 100; ++i) scheduler::yield();
      });
    });
    finished = true;
    EXPECT_TRUE(yields_until([&] { return work.done.load(); }));
    EXPECT_TRUE(seen);
  });
}

TEST(ExternalTask, IsNotStarvedByTasksThatResumeEachOther) {
  task_place place(1);
  place.run([&] {
    for (int i = 0; i < 20; ++i) {
      outside_work work([] {});
      std::atomic<int> rounds{0};
      finish([&] {
        for (int k = 0; k < 3; ++k) {
          async([&] {
            while (!work.done && ++rounds < 1'000'000) scheduler::yield();
          });
        }
        place.tasks().submit(&work);
      });
      EXPECT_TRUE(work.done);
      EXPECT_LT(rounds, 100'000);
    }
  });
}

// The last task of a finish enters the waiting fiber directly. A chain of such finishes must not
// starve other work.
TEST(ExternalTask, IsNotStarvedByAChainOfFinishes) {
  task_place place(1);
  place.run([&] {
    for (int i = 0; i < 20; ++i) {
      outside_work work([] {});
      place.tasks().submit(&work);
      int rounds = 0;
      while (!work.done && ++rounds < 100'000) {
        finish([] { async([] { scheduler::yield(); }); });
      }
      EXPECT_TRUE(work.done);
      EXPECT_LT(rounds, 10'000);
    }
  });
}

TEST(ExternalTask, RunsOnceFromWhateverThreadItIsSubmitted) {
  static constexpr int each = scaled(5000, 500);
  for (int workers : {1, 2, 4}) {
    task_place place(workers);
    std::atomic<int> ran{0};
    place.run([&] {
      std::vector<std::unique_ptr<outside_work>> works;
      for (int i = 0; i < 2 * each; ++i) {
        works.push_back(std::make_unique<outside_work>([&] { ++ran; }));
      }
      std::thread foreign([&] {
        for (int i = 0; i < each; ++i)
          place.tasks().submit(works[static_cast<std::size_t>(i)].get());
      });
      for (int i = each; i < 2 * each; ++i) {
        place.tasks().submit(works[static_cast<std::size_t>(i)].get());
      }
      EXPECT_TRUE(yields_until([&] { return ran == 2 * each; }));
      EXPECT_TRUE(yields_until(
          [&] { return std::ranges::all_of(works, [](auto& w) { return w->done.load(); }); }));
      foreign.join();
    });
    EXPECT_EQ(ran, 2 * each);
  }
}

}  // namespace
}  // namespace apgas::test

// SPDX-License-Identifier: Apache-2.0
#include <apgas/yield.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/latch.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Fairness of yield: the loop `while (!x) yield();` ends, no matter what kind of work sets x, and
// on which worker it is ready.
namespace apgas::test {
namespace {

using namespace std::chrono_literals;

struct flag_setter : scheduler::external_task {
  explicit flag_setter(std::atomic<bool>& x) : flag(x) {
    run = [](scheduler::external_task* self,
             scheduler::fiber&) noexcept -> scheduler::task_counter* {
      static_cast<flag_setter*>(self)->flag = true;
      return nullptr;
    };
  }
  std::atomic<bool>& flag;
};

// Other tasks that do nothing but yield until x is set.
struct company {
  std::atomic<bool>& x;
  int size;
  void spawn() const {
    for (int i = 0; i < size; ++i) {
      async([&flag = x] { EXPECT_TRUE(yields_until([&] { return flag.load(); })); });
    }
  }
};

class Yield : public testing::TestWithParam<int> {  // the number of other tasks that yield
 protected:
  template <class F>
  void run(F set) {
    task_place place(1);
    place.run([&] {
      std::atomic<bool> x{false};
      finish([&] {
        set(place, x);
        company{x, GetParam()}.spawn();
        EXPECT_TRUE(yields_until([&] { return x.load(); }));
      });
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Company, Yield, testing::Values(0, 1, 2, 7, 50, 100, 300));

TEST_P(Yield, LetsAnUnstartedTaskRun) {
  run([](task_place&, std::atomic<bool>& x) { async([&] { x = true; }); });
}

TEST_P(Yield, LetsTheTaskSpawnedLastRun) {
  task_place place(1);
  place.run([&] {
    std::atomic<bool> x{false};
    finish([&] {
      company{x, GetParam()}.spawn();
      for (int i = 0; i < 100; ++i) yield();
      async([&] { x = true; });
      EXPECT_TRUE(yields_until([&] { return x.load(); }));
    });
  });
}

TEST_P(Yield, LetsAnExternalTaskRun) {
  std::unique_ptr<flag_setter> setter;
  run([&](task_place& place, std::atomic<bool>& x) {
    setter = std::make_unique<flag_setter>(x);
    place.tasks().submit(setter.get());
  });
}

TEST_P(Yield, LetsTimersFire) {
  std::unique_ptr<flag_setter> setter;
  run([&](task_place& place, std::atomic<bool>& x) {
    setter = std::make_unique<flag_setter>(x);
    place.tasks().submit_at(std::chrono::steady_clock::now() + 10ms, setter.get());
  });
}

TEST_P(Yield, LetsAResumedTaskRun) {
  run([](task_place&, std::atomic<bool>& x) {
    async([&] {
      for (int i = 0; i < 10; ++i) scheduler::yield();
      x = true;
    });
  });
}

// Tasks that yield take turns, so that none gets far ahead of the others.
TEST(Yield, TakesTurns) {
  run_tasks(1, [] {
    constexpr int tasks = 8, rounds = 1000;
    int turns[tasks] = {};
    int furthest_ahead = 0;
    std::atomic<int> begun{0};  // outside the finish, because its tasks use it
    finish([&] {
      for (int i = 0; i < tasks; ++i) {
        async([&, i] {
          ++begun;
          EXPECT_TRUE(yields_until([&] { return begun == tasks; }));
          for (int k = 0; k < rounds; ++k) {
            ++turns[i];
            const auto [least, most] = std::minmax_element(turns, turns + tasks);
            furthest_ahead = std::max(furthest_ahead, *most - (*least == 0 ? *most : *least));
            yield();
          }
        });
      }
      EXPECT_TRUE(yields_until([&] { return begun == tasks; }));
    });
    EXPECT_LT(furthest_ahead, rounds / 2);
    for (int t : turns) EXPECT_EQ(t, rounds);
  });
}

// One of two workers yields, and the other one is busy until x is set.
class YieldBesideABusyWorker : public testing::Test {
 protected:
  // begin(x) is called on the busy worker. What it makes ready there sets x.
  template <class Begin>
  static void run(Begin begin) {
    task_place place(task_place::exactly(2));
    place.run([&] {
      std::atomic<bool> x{false};
      std::atomic<scheduler::worker*> yields{nullptr};
      finish([&] {
        async([&] {
          EXPECT_TRUE(yields_until([&] {
            yields = worker_now();
            return x.load();
          }));
        });
        EXPECT_TRUE(spins_until([&] { return yields.load() != nullptr; }));
        begin(x);
        EXPECT_TRUE(spins_until([&] { return x.load(); }));
      });
    });
  }
};

TEST_F(YieldBesideABusyWorker, LetsAnUnstartedTaskRun) {
  run([](std::atomic<bool>& x) { async([&] { x = true; }); });
}

TEST_F(YieldBesideABusyWorker, LetsAResumedTaskRun) {
  latch begun(1), resumed(1);
  run([&](std::atomic<bool>& x) {
    async([&] {
      begun.count_down();
      resumed.wait();
      x = true;
    });
    begun.wait();
    resumed.count_down();
  });
}

}  // namespace
}  // namespace apgas::test

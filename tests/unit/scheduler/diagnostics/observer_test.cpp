// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/clock.hpp>
#include <apgas/finish.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/latch.hpp>
#include <apgas/promise.hpp>
#include <apgas/scheduler/task_observer.hpp>

#include "support/scheduler_fixture.hpp"

// An observer is told of every task, and in an order that makes sense. The programs are run with
// one worker, where all tasks but the first run inside their spawner, and with several.
namespace apgas::test {
namespace {

using scheduler::fiber;
using scheduler::observed_task;

// Keeps what it is told, and notes what contradicts it.
class strict_observer final : public scheduler::task_observer {
 public:
  void spawned(fiber& parent, observed_task& child) noexcept override {
    const std::lock_guard guard(lock_);
    check(ids_.insert(child.id).second, "an id was given twice");
    check(parent.observed == nullptr || running_.contains(parent.observed), "no such parent");
    ++spawned_;
  }
  void begins(fiber& self, observed_task& task) noexcept override {
    const std::lock_guard guard(lock_);
    check(running_.insert(&task).second, "a task begins twice");
    check(self.observed == &task, "the task that begins is not on top");
    check(task.below == nullptr || running_.contains(task.below), "it runs on top of no task");
    if (task.below != nullptr) ++inlined_;
    if (!task.is_external) ++begun_;
    if (task.site.line() != 0) ++lines_[task.site.line()];
  }
  void ends(fiber& self, observed_task& task) noexcept override {
    const std::lock_guard guard(lock_);
    check(running_.erase(&task) == 1, "a task ends that has not begun");
    check(self.observed == &task, "the task that ends is not on top");
    if (!task.is_external) ++ended_;
    if (task.is_branch) {
      ++branches_;
      if (task.site.line() != 0) ++branch_lines_[task.site.line()];
    }
  }
  void suspends(fiber& self, const scheduler::wait_record&) noexcept override {
    const std::lock_guard guard(lock_);
    check(suspended_.insert(&self).second, "a fiber suspends twice");
  }
  void resumes(fiber& self, std::uint64_t) noexcept override {
    const std::lock_guard guard(lock_);
    check(suspended_.erase(&self) == 1, "a fiber goes on that was not suspended");
    ++resumed_;
  }
  void joined(fiber& self, const scheduler::task_counter&,
              const scheduler::call_site&) noexcept override {
    const std::lock_guard guard(lock_);
    check(self.observed == nullptr || running_.contains(self.observed), "a join of no task");
    ++joined_;
  }

  void expect(std::uint64_t tasks) {
    EXPECT_EQ(spawned_, tasks);
    EXPECT_EQ(begun_, tasks);
    EXPECT_EQ(ended_, tasks);
    EXPECT_TRUE(running_.empty());
    EXPECT_TRUE(suspended_.empty());
    EXPECT_EQ(wrong_, std::set<std::string>{});
  }

  std::uint64_t spawned_ = 0, begun_ = 0, ended_ = 0, inlined_ = 0, branches_ = 0, joined_ = 0;
  std::uint64_t resumed_ = 0;
  std::map<std::uint_least32_t, int> lines_, branch_lines_;

 private:
  void check(bool holds, const char* what) {
    if (!holds) wrong_.insert(what);
  }

  std::mutex lock_;
  std::set<std::uint64_t> ids_;
  std::set<const observed_task*> running_;
  std::set<const fiber*> suspended_;
  std::set<std::string> wrong_;
};

class Observer : public testing::TestWithParam<int> {  // the number of workers
 protected:
  void run(std::uint64_t tasks, const std::function<void()>& program) {
    scheduler::config settings = task_place::config_for(GetParam());
    settings.observer = &seen;
    run_tasks(settings, program);
    seen.expect(tasks);
  }
  strict_observer seen;
};
INSTANTIATE_TEST_SUITE_P(Workers, Observer, testing::Values(1, 2, 4));

int fib_async(int n) {
  if (n < 2) return n;
  int a = 0;
  int b = 0;
  finish([&] {
    async([&a, n] { a = fib_async(n - 1); });
    b = fib_async(n - 2);
  });
  return a + b;
}

int fib_fork(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([n] { return fib_fork(n - 1); }, [n] { return fib_fork(n - 2); });
  return a + b;
}

// The number of calls with n >= 2, each of which spawns one task.
std::uint64_t spawns_of_fib(int n) {
  return n < 2 ? 0 : 1 + spawns_of_fib(n - 1) + spawns_of_fib(n - 2);
}

TEST_P(Observer, SeesTheTasksOfAFinish) {
  run(spawns_of_fib(15), [] { EXPECT_EQ(fib_async(15), 610); });
  if (GetParam() == 1) {
    EXPECT_EQ(seen.inlined_, seen.begun_);
  }
  EXPECT_GE(seen.joined_, spawns_of_fib(15));
}

TEST_P(Observer, SeesTheBranchesOfAForkJoin) {
  run(spawns_of_fib(15), [] { EXPECT_EQ(fib_fork(15), 610); });
  EXPECT_EQ(seen.branches_, seen.begun_);
  EXPECT_GE(seen.joined_, spawns_of_fib(15));
  ASSERT_EQ(seen.branch_lines_.size(), 1U) << "all branches have the line of the fork_join";
}

TEST_P(Observer, SeesManyTasksOfOneSpawner) {
  constexpr int tasks = 20'000;
  std::atomic<int> ran{0};
  run(tasks, [&] {
    finish([&] {
      for (int i = 0; i < tasks; ++i) async([&] { ran.fetch_add(1); });
    });
  });
  EXPECT_EQ(ran, tasks);
  EXPECT_EQ(seen.lines_.size(), 1U);
}

TEST_P(Observer, SeesTasksWhoseClosureIsLongOrBoxed) {
  struct numbers {
    std::uint64_t of[5] = {1, 2, 3, 4, 5};
  };
  const numbers in_slot{};
  const std::string text(100, 'x');
  std::atomic<std::uint64_t> sum{0};
  run(400, [&] {
    finish([&] {
      for (int i = 0; i < 200; ++i) {
        async([n = in_slot] { EXPECT_EQ(n.of[0] + 10 * n.of[1] + 100 * n.of[4], 521U); });
        async([&sum, copy = text] { sum += copy.size(); });
      }
    });
  });
  EXPECT_EQ(sum, 200U * text.size());
}

TEST_P(Observer, SeesTasksThatWait) {
  run(2 * 50, [] {
    std::vector<promise<int>> all(50);
    latch begun(50);
    finish([&] {
      for (auto& p : all) {
        async([&] {
          begun.count_down();
          EXPECT_EQ(p.get_future().get(), 3);
        });
      }
      begun.wait();
      for (auto& p : all) async([&p] { p.set_value(3); });
    });
  });
  EXPECT_GE(seen.resumed_, 40U);  // the last tasks to begin may find their values
}

TEST_P(Observer, SeesTheTasksOfAClock) {
  constexpr int tasks = 20;
  std::atomic<int> advances{0};
  run(tasks, [&] {
    clocked_finish([&] {
      for (int i = 0; i < tasks; ++i) {
        clocked_async([&advances] {
          for (int k = 0; k < 10; ++k) {
            clock::advance_all();
            ++advances;
          }
        });
      }
    });
  });
  EXPECT_EQ(advances, tasks * 10);
}

TEST_P(Observer, SeesLoops) {
  std::atomic<int> sum{0};
  scheduler::config settings = task_place::config_for(GetParam());
  settings.observer = &seen;
  run_tasks(settings, [&] {
    forall(0, 1000, [&](int i) { sum += i; });
    coforall(0, 100, [&](int i) { sum += i; });
  });
  EXPECT_EQ(sum, 499'500 + 4950);
  seen.expect(seen.spawned_);
  EXPECT_GE(seen.branches_, 99U);  // the last iteration runs in the task of the loop
}

TEST_P(Observer, SeesTasksThatThrow) {
  run(30, [] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_THROW(finish([] { async([] { throw 1; }); }), multiple_exceptions);
      EXPECT_THROW(fork_join([] { throw 1; }, [] {}), multiple_exceptions);
      EXPECT_THROW(fork_join([] {}, [] { throw 1; }), multiple_exceptions);
    }
  });
}

// Is told of a part of the run only.
class late_observer final : public scheduler::task_observer {
 public:
  void begins(fiber& self, observed_task& task) noexcept override {
    if (self.observed != &task) ++wrong;
    ++begun;
  }
  void ends(fiber& self, observed_task& task) noexcept override {
    if (self.observed != &task) ++wrong;
    ++ended;
  }
  std::atomic<std::uint64_t> begun{0}, ended{0}, wrong{0};
};

void tasks_of_many_constructs() {
  EXPECT_EQ(fib_async(8), 21);
  EXPECT_EQ(fib_fork(8), 21);
  std::atomic<int> sum{0};
  finish([&] {
    for (int i = 0; i < 500; ++i) async([&] { ++sum; });  // drains
  });
  EXPECT_EQ(sum, 500);
  clocked_finish([] {
    for (int i = 0; i < 5; ++i) {
      clocked_async([] {
        for (int k = 0; k < 3; ++k) clock::advance_all();
      });
    }
  });
}

// While `place` runs tasks of many constructs again and again, calls change().
void change_while_tasks_run(task_place& place, const std::function<void()>& change) {
  std::atomic<bool> over{false};
  std::thread changes([&] {
    change();
    over = true;
  });
  place.run([&] {
    while (!over) tasks_of_many_constructs();
  });
  changes.join();
}

TEST_P(Observer, MayBeginAndEndWhileTasksRun) {
  late_observer late;
  task_place place(GetParam());
  change_while_tasks_run(place, [&] {
    for (int i = 0; i < 50; ++i) {
      place.tasks().observe(&late);
      for (const std::uint64_t before = late.begun; late.begun == before;)
        std::this_thread::yield();
      place.tasks().observe(nullptr);
    }
  });
  EXPECT_EQ(late.wrong, 0U);
  const std::uint64_t begun = late.begun;
  place.run(tasks_of_many_constructs);
  EXPECT_EQ(late.begun, begun) << "nobody observes these tasks";
}

TEST_P(Observer, SeesAllTasksOfAFinishThatBeginsLater) {
  late_observer some[3];
  task_place place(GetParam());
  place.run(tasks_of_many_constructs);
  for (late_observer& late : some) {
    place.tasks().observe(&late);
    place.run([] { EXPECT_EQ(fib_async(12), 144); });
    place.tasks().observe(nullptr);
    place.run([] { EXPECT_EQ(fib_async(12), 144); });
    EXPECT_EQ(late.begun, spawns_of_fib(12) + 1) << "and the main task";
    EXPECT_GE(late.ended, spawns_of_fib(12)) << "the main task may end later";
  }
}

TEST_P(Observer, MayBeReplacedWhileTasksRun) {
  late_observer other;
  scheduler::config settings = task_place::config_for(GetParam());
  settings.observer = &seen;
  task_place place(settings);
  change_while_tasks_run(place, [&] {
    for (int i = 0; i < 20; ++i) {
      place.tasks().observe(&other);
      for (const std::uint64_t before = other.begun; other.begun == before;) {
        std::this_thread::yield();
      }
      place.tasks().observe(&seen);
    }
  });
  EXPECT_EQ(other.wrong, 0U);
}

}  // namespace
}  // namespace apgas::test

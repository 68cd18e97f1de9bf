// SPDX-License-Identifier: Apache-2.0

// A value of a task_local belongs to one task: it is there after a suspension and on another
// worker, and neither children that run on the same stack, nor branches, nor loops see it or leave
// theirs.

#include <apgas/task_local.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/clock.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/finish.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/registered_async.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::inherit;
using apgas::task_local;

class TaskLocal : public testing::TestWithParam<int> {
 protected:
  template <class F>
  static void run(F f) {
    apgas::test::run_tasks(GetParam(), std::move(f));
  }
};
INSTANTIATE_TEST_SUITE_P(OnWorkers, TaskLocal, testing::Values(1, 2, 4));

// Counts the values that exist, and how many were made from another one.
struct counted {
  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> copies{0};
  int number = 0;

  explicit counted(int n = 0) : number(n) { ++alive; }
  counted(const counted& other) : number(other.number) {
    ++alive;
    ++copies;
  }
  counted(counted&& other) noexcept : number(other.number) { ++alive; }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
};

TEST_P(TaskLocal, EachTaskHasItsOwn) {
  run([] {
    const task_local<int> x;
    EXPECT_EQ(*x, 0);
    x.set(7);
    finish([&] {
      for (int i = 1; i <= 100; ++i) {
        async([&x, i] {
          EXPECT_EQ(*x, 0);
          *x = i;
          for (int k = 0; k < 5; ++k) {
            apgas::yield();
            EXPECT_EQ(*x, i);
          }
        });
      }
      EXPECT_EQ(*x, 7);
    });
    EXPECT_EQ(*x, 7);
  });
}

TEST_P(TaskLocal, ChildrenThatRunOnTheStackOfTheirParentLeaveNothing) {
  run([] {
    const task_local<int> x;
    finish([&] {
      for (int i = 0; i < 10; ++i) {
        async([&x] {
          EXPECT_EQ(*x, 0);
          x.set(1);
        });
      }
    });
    EXPECT_EQ(*x, 0);
  });
}

TEST_P(TaskLocal, BranchesOfAForkJoinHaveTheirOwn) {
  run([] {
    const task_local<int> x;
    const auto branch = [&x](int n) {
      return [&x, n] {
        const int before = *x;
        x.set(n);
        return before;
      };
    };
    for (int round = 0; round < 100; ++round) {
      const auto [a, b] = apgas::fork_join(branch(1), branch(2));
      EXPECT_EQ(a + b, 0);
    }
    const auto [c, d, e] = apgas::fork_join(branch(1), branch(2), branch(3));
    EXPECT_EQ(c + d + e, 0);
    EXPECT_EQ(*x, 0);
    x.set(5);
    const auto [f, g] = apgas::fork_join(branch(1), branch(2));
    EXPECT_EQ(f + g, 0);
    EXPECT_EQ(*x, 5);
  });
}

TEST_P(TaskLocal, ABranchThatThrowsLeavesNothing) {
  run([] {
    const task_local<int> x;
    for (const int failing : {0, 1, 2}) {
      const auto branch = [&x, failing](int n) {
        return [&x, failing, n] {
          EXPECT_EQ(*x, 0);
          x.set(n);
          if (failing == n || failing == 0) throw std::runtime_error("a branch failed");
        };
      };
      EXPECT_THROW(apgas::fork_join(branch(1), branch(2)), apgas::multiple_exceptions);
      EXPECT_EQ(*x, 0);
    }
  });
}

TEST_P(TaskLocal, LoopsLeaveNothing) {
  run([] {
    const task_local<int> x;
    std::atomic<int> wrong{0};
    apgas::coforall(0, 50, [&](int i) {
      if (*x != 0) ++wrong;
      x.set(i + 1);
      apgas::yield();
      if (*x != i + 1) ++wrong;
    });
    apgas::coforall(0, 1, [&](int) { x.set(1); });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(*x, 0);
    apgas::forall(0, 1000, [&](int) { ++*x; });
    EXPECT_EQ(*x, 0);
    x.set(3);
    apgas::forall(0, 10, [&](int) { x.set(9); }, 1);
    static_cast<void>(apgas::parallel_reduce(0, 10, 0, [&](int) { return ++*x; }, std::plus<>()));
    EXPECT_EQ(*x, 3);
  });
}

TEST_P(TaskLocal, ValuesEndWithTheirTasks) {
  counted::alive = 0;
  run([] {
    const task_local<counted> x;
    finish([&] {
      for (int i = 0; i < 100; ++i) {
        async([&x] {
          x->number = 1;
          apgas::yield();
        });
      }
    });
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(x->number, 0);
    EXPECT_EQ(counted::alive, 1);
  });
  EXPECT_EQ(counted::alive, 0);
}

TEST_P(TaskLocal, AValueOutlivesItsVariable) {
  counted::alive = 0;
  run([] {
    finish([] {
      async([] {
        {
          const task_local<counted> x;
          x->number = 1;
        }
        EXPECT_EQ(counted::alive, 1);
        const task_local<counted> y;
        EXPECT_EQ(y->number, 0);
      });
    });
    EXPECT_EQ(counted::alive, 0);
  });
}

TEST_P(TaskLocal, ChildrenInheritWhatTheParentHadAtTheSpawn) {
  run([] {
    const task_local<std::string> x(inherit);
    const task_local<int> own;
    std::atomic<int> right{0};
    x.set("first");
    own.set(1);
    finish([&] {
      for (int i = 0; i < 20; ++i) {
        async([&] {
          if (*x == "first" && *own == 0) ++right;
          *x += " and more";
          apgas::yield();
          finish([&] { async([&] { right += *x == "first and more" ? 1 : 0; }); });
        });
      }
      x.set("second");
      async([&] { right += *x == "second" ? 1 : 0; });
      async(apgas::name("named"), [&] { right += *x == "second" ? 1 : 0; });
      const auto value = apgas::async_future([&] { return *x; });
      right += value.get() == "second" ? 1 : 0;
      const auto c = apgas::clock::make();
      async(apgas::clocked(c), [&] { right += *x == "second" ? 1 : 0; });
      c.drop();
    });
    EXPECT_EQ(right, 44);
    EXPECT_EQ(*x, "second");
  });
}

TEST_P(TaskLocal, BranchesAndLoopsInherit) {
  run([] {
    const task_local<int> x(inherit);
    x.set(5);
    std::atomic<int> wrong{0};
    const auto visit = [&] {
      if (*x != 5) ++wrong;
      *x = 6;
      return 0;
    };
    for (int round = 0; round < 50; ++round) {
      static_cast<void>(apgas::fork_join(visit, visit, visit));
      apgas::coforall(0, 8, [&](int) { visit(); });
    }
    apgas::forall(0, 100, [&](int) { wrong += *x == 5 ? 0 : 1; }, 1);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(*x, 5);
  });
}

TEST_P(TaskLocal, OnlySpawnsOfTasksThatHaveAValueCopyIt) {
  counted::copies = 0;
  run([] {
    const task_local<counted> x(inherit);
    finish([&] {
      for (int i = 0; i < 10; ++i) async([] {});
    });
    EXPECT_EQ(counted::copies, 0);
    x->number = 3;
    finish([&] {
      for (int i = 0; i < 10; ++i) async([&x] { EXPECT_EQ(x->number, 3); });
    });
    EXPECT_EQ(counted::copies, 10);
  });
  EXPECT_EQ(counted::alive, 0);
}

struct refuses_copies {
  bool armed = false;
  refuses_copies() = default;
  refuses_copies(const refuses_copies& other) : armed(other.armed) {
    if (armed) throw std::runtime_error("no copy");
  }
  refuses_copies& operator=(const refuses_copies&) = default;
};

TEST_P(TaskLocal, AFailedCopyFailsTheSpawn) {
  run([] {
    const task_local<refuses_copies> x(inherit);
    x->armed = true;
    const auto held = std::make_shared<int>(0);
    std::atomic<int> ran{0};
    finish([&] {
      EXPECT_THROW(async([&ran, held] { ++ran; }), std::runtime_error);
      EXPECT_THROW(static_cast<void>(apgas::async_future([&ran, held] { return ++ran; })),
                   std::runtime_error);
    });
    EXPECT_THROW(apgas::fork_join([&] { ++ran; }, [&] { ++ran; }), std::runtime_error);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(held.use_count(), 1);
  });
}

TEST_P(TaskLocal, AFailedDefaultLeavesNoValue) {
  struct fails {
    fails() { throw std::runtime_error("no value"); }
  };
  run([] {
    const task_local<fails> x;
    EXPECT_THROW(static_cast<void>(x.get()), std::runtime_error);
    EXPECT_THROW(static_cast<void>(x.get()), std::runtime_error);
  });
}

TEST(TaskLocal, IsRefusedOutsideOfATask) {
  const task_local<int> x;
  EXPECT_THROW(static_cast<void>(x.get()), apgas::illegal_operation);
  EXPECT_THROW(x.set(1), apgas::illegal_operation);
}

TEST_P(TaskLocal, IsRefusedInACriticalSection) {
  run([] {
    const task_local<int> x;
    try {
      apgas::atomic([&] { ++*x; });
      FAIL();
    } catch (const apgas::illegal_operation& e) {
      EXPECT_NE(std::string(e.what()).find("another task may execute"), std::string::npos);
    }
    EXPECT_EQ(*x, 0);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <apgas/fork_join.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <apgas/async.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// fork_join, including branches whose slot lies below escaped tasks (asyncs of a branch, which
// belong to the enclosing finish) and branches that throw.
namespace apgas::test {
namespace {

class ForkJoin : public testing::TestWithParam<int> {
 protected:
  template <class F>
  void run(F f) {
    run_tasks(GetParam(), std::move(f));
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, ForkJoin, testing::Values(1, 2, 4));

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST_P(ForkJoin, ReturnsTheValuesOfItsBranches) {
  run([] {
    EXPECT_EQ(fib(18), 2584);
    const auto [one, nothing, text] =
        fork_join([] { return 1; }, [] {}, [] { return std::string("three"); });
    EXPECT_EQ(one, 1);
    EXPECT_EQ(nothing, std::monostate{});
    EXPECT_EQ(text, "three");
  });
}

TEST_P(ForkJoin, TakesAnyNumberOfBranches) {
  run_tasks(GetParam(), [] {
    const auto [a, b, c, d, e, f, g, h] =
        fork_join([] { return 1; }, [] { return 2; }, [] { return 3; }, [] { return 4; },
                  [] { return 5; }, [] { return 6; }, [] { return std::string("seven"); }, [] {});
    EXPECT_EQ(a + b + c + d + e + f, 21);
    EXPECT_EQ(g, "seven");
    EXPECT_EQ(h, std::monostate{});
    std::atomic<int> ran{0};
    const auto one = [&] { ++ran; };
    fork_join(one, one, one, one, one, one, one, one, one);
    EXPECT_EQ(ran, 9);
  });
}

TEST_P(ForkJoin, TakesAndReturnsMoveOnlyAndLargeObjects) {
  run([] {
    for (int i = 0; i < 200; ++i) {
      std::array<int, 64> large{};
      large[63] = i;
      auto [a, b] = fork_join(
          [p = std::make_unique<int>(i)] {
            scheduler::yield();
            return std::make_unique<int>(*p + 1);
          },
          [large] { return large; });
      EXPECT_EQ(*a, i + 1);
      EXPECT_EQ(b[63], i);
    }
  });
}

TEST_P(ForkJoin, AnEscapedTaskRunsExactlyOnce) {
  run([] {
    for (int i = 0; i < 2000; ++i) {
      std::atomic<int> first{0}, second{0}, escaped{0};
      finish([&] {
        fork_join(
            [&] {
              ++first;
              async([&] { ++escaped; });
            },
            [&] {
              ++second;
              async([&] { ++escaped; });
              async([&] { ++escaped; });
            });
        EXPECT_EQ(first, 1);
        EXPECT_EQ(second, 1);
      });
      EXPECT_EQ(first, 1);
      EXPECT_EQ(escaped, 3);
    }
  });
}

TEST_P(ForkJoin, EscapedTasksOfNestedJoinsRunExactlyOnce) {
  run([] {
    for (int i = 0; i < 300; ++i) {
      std::atomic<int> branches{0}, escaped{0};
      finish([&] {
        async([&] { ++escaped; });
        fork_join([&] { ++branches; },
                  [&] {
                    async([&] { ++escaped; });
                    fork_join([&] { ++branches; },
                              [&] {
                                async([&] { ++escaped; });
                                fork_join([&] { ++branches; }, [&] { async([&] { ++escaped; }); });
                              });
                    async([&] { ++escaped; });
                  });
      });
      EXPECT_EQ(branches, 3);
      EXPECT_EQ(escaped, 5);
    }
  });
}

// If the escaped task ran on top of the join, it would wait for ever for the code after the join.
TEST_P(ForkJoin, AnEscapedTaskMayWaitForCodeAfterTheJoin) {
  run([] {
    for (int i = 0; i < 50; ++i) {
      std::atomic<bool> joined{false}, seen{false};
      finish([&] {
        fork_join([] {},
                  [&] { async([&] { seen = yields_until([&] { return joined.load(); }); }); });
        joined = true;
      });
      EXPECT_TRUE(seen);
    }
  });
}

// The same for a branch that has left its frame, so that another worker or the scheduling loop runs
// it.
TEST_P(ForkJoin, AnEscapedTaskOfAStolenBranchMayWaitForCodeAfterTheJoin) {
  run([] {
    for (int i = 0; i < 50; ++i) {
      std::atomic<bool> joined{false}, seen{false};
      finish([&] {
        fork_join([&] { async([&] { seen = yields_until([&] { return joined.load(); }); }); },
                  [] { scheduler::yield(); });
        joined = true;
      });
      EXPECT_TRUE(seen);
    }
  });
}

TEST_P(ForkJoin, AThrowingBranchLeavesNoTaskBehind) {
  run([] {
    for (int i = 0; i < 500; ++i) {
      std::atomic<int> first{0}, escaped{0}, later{0};
      finish([&] {
        try {
          fork_join([&] { ++first; },
                    [&] {
                      if (i % 2 == 0) async([&] { ++escaped; });
                      throw std::runtime_error("second");
                    });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const multiple_exceptions& e) {
          EXPECT_EQ(e.size(), 1u);
        }
        EXPECT_EQ(first, 1);
        finish([&] {
          async([&] { ++later; });
          async([&] { ++later; });
        });
        EXPECT_EQ(later, 2);
      });
      EXPECT_EQ(first, 1);
      EXPECT_EQ(escaped, i % 2 == 0 ? 1 : 0);
    }
  });
}

TEST_P(ForkJoin, CollectsTheExceptionsOfAllBranches) {
  run([] {
    for (int i = 0; i < 200; ++i) {
      try {
        fork_join(
            [&]() -> int {
              if (i % 2 == 0) scheduler::yield();
              throw std::runtime_error("first");
            },
            [&]() -> int {
              if (i % 3 == 0) scheduler::yield();
              throw std::logic_error("second");
            },
            []() -> int { throw std::string("third"); });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const multiple_exceptions& e) {
        EXPECT_EQ(e.size(), 3u) << e.what();
      }
    }
  });
}

TEST_P(ForkJoin, BranchesMaySuspend) {
  run([] {
    const auto [a, b] = fork_join(
        [] {
          for (int i = 0; i < 100; ++i) scheduler::yield();
          return 1;
        },
        [] {
          for (int i = 0; i < 100; ++i) scheduler::yield();
          return 2;
        });
    EXPECT_EQ(a + b, 3);
  });
}

TEST_P(ForkJoin, BranchesMayWaitForEachOther) {
  run([] {
    for (int i = 0; i < 50; ++i) {
      std::atomic<bool> a{false}, b{false};
      const auto [first, second] = fork_join(
          [&] {
            a = true;
            return yields_until([&] { return b.load(); });
          },
          [&] {
            b = true;
            return yields_until([&] { return a.load(); });
          });
      EXPECT_TRUE(first && second);
    }
  });
}

}  // namespace
}  // namespace apgas::test

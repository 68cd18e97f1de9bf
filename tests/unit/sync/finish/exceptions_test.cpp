// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/fork_join.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Exceptions that are being handled while their task moves to another thread, and the exceptions
// that a finish collects.
namespace apgas::test {
namespace {

// Yields until the task is on another worker, but at most 200 times.
void migrate() {
  scheduler::worker* const here = worker_now();
  for (int i = 0; i < 200 && worker_now() == here; ++i) scheduler::yield();
}

class Exceptions : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, Exceptions, testing::Values(1, 2, 4));

TEST_P(Exceptions, ACaughtExceptionFollowsItsTask) {
  std::atomic<int> right{0}, moved{0};
  static constexpr int tasks = 200;
  int batches = 0;
  auto batch = [&] {
    ++batches;
    finish([&] {
      for (int i = 0; i < tasks; ++i) {
        async([&, i] {
          EXPECT_EQ(std::current_exception(), nullptr);
          try {
            throw i;
          } catch (int caught) {
            scheduler::worker* const before = worker_now();
            migrate();
            moved += worker_now() != before ? 1 : 0;
            EXPECT_NE(std::current_exception(), nullptr);
            EXPECT_EQ(std::uncaught_exceptions(), 0);
            try {
              migrate();
              throw;
            } catch (int again) {
              right += again == i && caught == i ? 1 : 0;
            }
          }
          EXPECT_EQ(std::current_exception(), nullptr);
        });
      }
    });
  };
  run_tasks(GetParam(), [&] {
    batch();  // repeated until a task has moved to another worker
    EXPECT_TRUE(GetParam() == 1 || holds_soon([&] { return moved > 0; }, batch));
  });
  EXPECT_EQ(right, batches * tasks);
}

struct suspends_when_unwound {
  std::atomic<int>& right;
  ~suspends_when_unwound() {
    const bool before = std::uncaught_exceptions() == 1;
    migrate();
    right += before && std::uncaught_exceptions() == 1 ? 1 : 0;
  }
};

TEST_P(Exceptions, AnUncaughtExceptionFollowsItsTask) {
  std::atomic<int> right{0};
  static constexpr int tasks = 200;
  run_tasks(GetParam(), [&] {
    finish([&] {
      for (int i = 0; i < tasks; ++i) {
        async([&] {
          EXPECT_EQ(std::uncaught_exceptions(), 0);
          try {
            const suspends_when_unwound guard{right};
            throw std::runtime_error("unwinding");
          } catch (const std::runtime_error&) {
            EXPECT_EQ(std::uncaught_exceptions(), 0);
          }
          migrate();
          EXPECT_EQ(std::uncaught_exceptions(), 0);
        });
      }
    });
  });
  EXPECT_EQ(right, tasks);
}

// A task may spawn others and wait for them while it handles an exception.
TEST_P(Exceptions, AFinishInACatchBlockPreservesTheException) {
  run_tasks(GetParam(), [] {
    for (int i = 0; i < 100; ++i) {
      try {
        throw std::runtime_error("outer");
      } catch (...) {
        std::atomic<int> ran{0};
        finish([&] {
          for (int k = 0; k < 300; ++k) {
            async([&] {
              ++ran;
              EXPECT_EQ(std::uncaught_exceptions(), 0);
            });
          }
        });
        EXPECT_EQ(ran, 300);
        EXPECT_THROW(throw, std::runtime_error);
      }
    }
  });
}

TEST_P(Exceptions, ThoseOfNestedFinishesAreFlattenedAndNameTheirSpawnSites) {
  unsigned inner_line = 0, outer_line = 0;
  run_tasks(GetParam(), [&] {
    try {
      finish([&] {
        async([&] {
          finish([&] {
            inner_line = std::source_location::current().line() + 1;
            async([] { throw std::out_of_range("inner"); });
            throw std::logic_error("body of the inner finish");
          });
        });
        outer_line = std::source_location::current().line() + 1;
        async(name("named"), [] { throw std::runtime_error("outer"); });
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const multiple_exceptions& e) {
      ASSERT_EQ(e.size(), 3u) << e.what();
      int found = 0;
      for (const task_exception& one : e) {
        const std::string text = one.describe();
        if (text.find("std::out_of_range: inner") != std::string::npos) {
          EXPECT_EQ(one.site().line, inner_line) << text;
          ++found;
        } else if (text.find("std::runtime_error: outer") != std::string::npos) {
          EXPECT_EQ(one.site().line, outer_line) << text;
          EXPECT_EQ(one.site().task_name, "named");
          ++found;
        } else if (text.find("body of the inner finish") != std::string::npos) {
          EXPECT_EQ(one.site().line, inner_line - 3) << text;
          ++found;
        }
        EXPECT_NE(one.site().file.find("exceptions_test.cpp"), std::string::npos) << text;
      }
      EXPECT_EQ(found, 3) << e.what();
    }
  });
}

TEST_P(Exceptions, AnEmptyCollectionCountsAsAnException) {
  run_tasks(GetParam(), [] {
    try {
      finish([] { async([] { throw multiple_exceptions({}); }); });
      ADD_FAILURE() << "the exception disappeared";
    } catch (const multiple_exceptions& e) {
      ASSERT_EQ(e.size(), 1U);
    }
  });
}

TEST_P(Exceptions, AFinishWaitsForAllTasksBeforeItThrows) {
  run_tasks(GetParam(), [] {
    for (int i = 0; i < 50; ++i) {
      std::atomic<int> ran{0};
      try {
        finish([&] {
          for (int k = 0; k < 20; ++k) {
            async([&, k] {
              if (k % 3 == 0) scheduler::yield();
              ++ran;
              if (k % 2 == 0) throw k;
            });
          }
          throw std::runtime_error("body");
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const multiple_exceptions& e) {
        EXPECT_EQ(e.size(), 11u);
      }
      EXPECT_EQ(ran, 20);
    }
  });
}

TEST_P(Exceptions, AFinishReturnsAValueOrThrows) {
  run_tasks(GetParam(), [] {
    EXPECT_EQ(finish([] {
                async([] { scheduler::yield(); });
                return std::string("value");
              }),
              "value");
    EXPECT_THROW(finish([]() -> int { throw 1; }), multiple_exceptions);
  });
}

}  // namespace
}  // namespace apgas::test

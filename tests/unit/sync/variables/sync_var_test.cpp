// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync_var.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/errors.hpp>
#include <apgas/forall.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::finish;
using apgas::illegal_operation;
using apgas::single_var;
using apgas::sync_var;
using apgas::test::run_tasks;
using apgas::test::scaled;
using std::chrono::milliseconds;

TEST(SyncVar, EachOperationLeavesItsState) {
  run_tasks(1, [] {
    sync_var<int> v;
    EXPECT_FALSE(v.is_full());
    EXPECT_EQ(v.read_xx(), 0);
    v.write_ef(1);
    EXPECT_TRUE(v.is_full());
    EXPECT_EQ(v.read_ff(), 1);
    EXPECT_TRUE(v.is_full());
    v.write_ff(2);
    EXPECT_TRUE(v.is_full());
    EXPECT_EQ(v.read_xx(), 2);
    EXPECT_EQ(v.read_fe(), 2);
    EXPECT_FALSE(v.is_full());
    v.write_xf(3);
    EXPECT_TRUE(v.is_full());
    v.write_xf(4);
    EXPECT_EQ(v.read_ff(), 4);
    v.reset();
    EXPECT_FALSE(v.is_full());
    EXPECT_EQ(v.read_xx(), 0);
    sync_var<std::string> full("begin");
    EXPECT_EQ(full.read_fe(), "begin");
    sync_var<std::unique_ptr<int>> moves(std::make_unique<int>(5));
    EXPECT_EQ(*moves.read_fe(), 5);
  });
}

// A task that must wait for a state does not go on while other tasks run.
TEST(SyncVar, OperationsWaitForTheirState) {
  run_tasks(2, [] {
    const auto waits = [](sync_var<int>& v, auto operation, auto release) {
      std::atomic<bool> done{false};
      finish([&] {
        async([&] {
          operation(v);
          done = true;
        });
        apgas::sleep_for(milliseconds(2));
        EXPECT_FALSE(done);
        release(v);
      });
      EXPECT_TRUE(done);
    };
    sync_var<int> empty;
    waits(empty, [](auto& v) { EXPECT_EQ(v.read_fe(), 1); }, [](auto& v) { v.write_ef(1); });
    waits(empty, [](auto& v) { EXPECT_EQ(v.read_ff(), 2); }, [](auto& v) { v.write_xf(2); });
    empty.reset();
    waits(empty, [](auto& v) { v.write_ff(3); }, [](auto& v) { v.write_ef(2); });
    EXPECT_EQ(empty.read_ff(), 3);
    waits(empty, [](auto& v) { v.write_ef(4); }, [](auto& v) { v.reset(); });
    EXPECT_EQ(empty.read_ff(), 4);
    waits(empty, [](auto& v) { v.write_ef(5); }, [](auto& v) { EXPECT_EQ(v.read_fe(), 4); });
  });
}

TEST(SyncVar, ServesTasksInTheOrderOfArrival) {
  run_tasks(1, [] {
    sync_var<int> v;
    std::vector<int> order;
    int arrived = 0;
    finish([&] {
      for (int i = 0; i < 20; ++i) {
        async([&, i] {
          ++arrived;
          EXPECT_EQ(v.read_fe(), i);
          order.push_back(i);
        });
        while (arrived <= i) apgas::yield();  // with one worker, the task waits by then
      }
      for (int i = 0; i < 20; ++i) v.write_ef(i);
    });
    EXPECT_EQ(order.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
  });
}

// More tasks wait than there are workers, and the readers come before any writer. This deadlocks if
// a waiting task keeps its thread.
TEST(SyncVar, MoreTasksWaitThanThereAreWorkers) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      const int n = scaled(2000, 200);
      sync_var<int> v;
      std::atomic<std::int64_t> sum{0};
      finish([&] {
        for (int i = 0; i < n; ++i) {
          async([&] { sum += v.read_fe(); });
        }
        apgas::coforall(0, n, [&](int i) { v.write_ef(i); });
      });
      EXPECT_EQ(sum, std::int64_t{n} * (n - 1) / 2);
      EXPECT_FALSE(v.is_full());
    });
  }
}

// The tasks of a ring pass a token; each waits for its neighbour.
TEST(SyncVar, ARingOfTasks) {
  run_tasks(2, [] {
    const int n = 100;
    const int rounds = scaled(50, 5);
    std::vector<sync_var<int>> token(static_cast<std::size_t>(n));
    finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&, i] {
          for (int r = 0; r < rounds; ++r) {
            const int got = token[static_cast<std::size_t>(i)].read_fe();
            token[static_cast<std::size_t>((i + 1) % n)].write_ef(got + 1);
          }
        });
      }
      token[0].write_ef(0);
    });
    EXPECT_EQ(token[0].read_fe(), n * rounds);
  });
}

// The lock of Chapel programs: full means free.
TEST(SyncVar, ServesAsALock) {
  run_tasks(4, [] {
    sync_var<bool> lock(true);
    int sum = 0;
    finish([&] {
      for (int i = 0; i < 200; ++i) {
        async([&, i] {
          static_cast<void>(lock.read_fe());
          const int before = sum;
          if (i % 5 == 0) apgas::yield();
          sum = before + 1;
          lock.write_ef(true);
        });
      }
    });
    EXPECT_EQ(sum, 200);
  });
}

TEST(SyncVar, AnExceptionWhileCopyingLeavesTheState) {
  struct fragile {
    explicit fragile(bool breaks_when_copied) : breaks(breaks_when_copied) {}
    fragile(const fragile& other) : breaks(other.breaks) {
      if (breaks) throw std::domain_error("copy");
    }
    fragile(fragile&&) = default;
    fragile& operator=(fragile&&) = default;
    bool breaks;
  };
  run_tasks(1, [] {
    sync_var<fragile> v(fragile(true));
    EXPECT_THROW(static_cast<void>(v.read_ff()), std::domain_error);
    EXPECT_TRUE(v.is_full());
    EXPECT_TRUE(v.read_fe().breaks);
    EXPECT_FALSE(v.is_full());
  });
}

TEST(SyncVar, RefusesAtomicSectionsAndForeignThreads) {
  run_tasks(1, [] {
    sync_var<int> v(1);
    EXPECT_THROW(apgas::atomic([&] { static_cast<void>(v.read_ff()); }), illegal_operation);
    EXPECT_THROW(apgas::atomic([&] { v.write_xf(2); }), illegal_operation);
    EXPECT_EQ(v.read_ff(), 1);
  });
  sync_var<int> v(1);
  EXPECT_THROW(static_cast<void>(v.read_ff()), illegal_operation);
}

TEST(SingleVar, IsWrittenOnceAndReadByAll) {
  run_tasks(2, [] {
    single_var<std::string> v;
    std::atomic<int> readers{0};
    finish([&] {
      for (int i = 0; i < 100; ++i) {
        async([&] {
          EXPECT_EQ(v.read_ff(), "value");
          ++readers;
        });
      }
      apgas::yield();
      EXPECT_FALSE(v.is_full());
      EXPECT_EQ(readers, 0);
      v.write_ef("value");
    });
    EXPECT_EQ(readers, 100);
    EXPECT_TRUE(v.is_full());
    EXPECT_THROW(v.write_ef("again"), illegal_operation);
    EXPECT_EQ(v.read_ff(), "value");
  });
}

TEST(SingleVar, AValueThatCannotBeMovedLeavesItEmpty) {
  struct fragile {
    explicit fragile(int left) : moves_left(left) {}
    fragile(fragile&& other) : moves_left(other.moves_left - 1) {
      if (moves_left == 0) throw std::domain_error("move");
    }
    int moves_left;
  };
  run_tasks(1, [] {
    single_var<fragile> v;
    EXPECT_THROW(v.write_ef(fragile(1)), std::domain_error);
    EXPECT_FALSE(v.is_full());
    v.write_ef(fragile(100));
    EXPECT_GT(v.read_ff().moves_left, 1);
  });
}

}  // namespace

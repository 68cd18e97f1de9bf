// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>

#include "support/scheduler_fixture.hpp"

// Litmus tests of memory ordering: tasks write and read ordinary variables and are ordered by the
// constructs alone. The tests use no atomics, so a missing order is a data race that
// ThreadSanitizer reports, or a stale value.
namespace apgas::test {
namespace {

struct setting {
  const char* name;
  int workers;
  bool asymmetric;
};

class Litmus : public testing::TestWithParam<setting> {
 protected:
  template <class F>
  void run(F f) {
    scheduler::config c = task_place::config_for(GetParam().workers);
    c.asymmetric_fence = GetParam().asymmetric;
    run_tasks(c, std::move(f));
  }
  static constexpr int rounds = scaled(3000, 300);
};
INSTANTIATE_TEST_SUITE_P(Settings, Litmus,
                         testing::Values(setting{"Two", 2, true}, setting{"Four", 4, true},
                                         setting{"TwoFenced", 2, false}),
                         [](const auto& test) { return test.param.name; });

// Delays a task by a varying time, so that some tasks are stolen; otherwise nothing would be
// tested.
void linger(int i) {
  for (int k = 0; k < (i % 8) * 20; ++k) base::cpu_relax();
}

TEST_P(Litmus, SpawnAndFinish) {
  run([] {
    for (int i = 0; i < rounds; ++i) {
      int before[4] = {}, after[4] = {};
      finish([&] {
        for (int k = 0; k < 4; ++k) {
          before[k] = i + k;
          async([&, k] {
            linger(i);
            after[k] = before[k] + 1;
          });
        }
      });
      for (int k = 0; k < 4; ++k) ASSERT_EQ(after[k], i + k + 1);
    }
  });
}

TEST_P(Litmus, TasksOfTasks) {
  run([] {
    for (int i = 0; i < rounds; ++i) {
      int values[3] = {};
      finish([&] {
        values[0] = i;
        async([&] {
          values[1] = values[0] + 1;
          async([&] {
            linger(i);
            values[2] = values[1] + 1;
          });
          linger(i);
        });
      });
      ASSERT_EQ(values[2], i + 2);
    }
  });
}

TEST_P(Litmus, NestedFinishes) {
  run([] {
    for (int i = 0; i < rounds; ++i) {
      int inner = 0, outer = 0;
      finish([&] {
        async([&] {
          finish([&] {
            async([&] {
              linger(i);
              inner = i;
            });
          });
          outer = inner + 1;
        });
      });
      ASSERT_EQ(outer, i + 1);
    }
  });
}

TEST_P(Litmus, ForkAndJoin) {
  run([] {
    for (int i = 0; i < rounds; ++i) {
      int before = i, a = 0, b = 0;
      fork_join(
          [&] {
            linger(i);
            a = before + 1;
          },
          [&] {
            linger(i + 1);
            b = before + 2;
          });
      ASSERT_EQ(a + b, 2 * i + 3);
    }
  });
}

TEST_P(Litmus, ATaskThatEscapesAJoin) {
  run([] {
    for (int i = 0; i < rounds; ++i) {
      int in_branch = 0, escaped = 0, joined = 0;
      finish([&] {
        fork_join([&] { linger(i); },
                  [&] {
                    in_branch = i;
                    async([&] { escaped = in_branch + 1; });
                  });
        joined = in_branch;
      });
      ASSERT_EQ(escaped, i + 1);
      ASSERT_EQ(joined, i);
    }
  });
}

TEST_P(Litmus, IterationsOfALoop) {
  run([] {
    std::vector<int> numbers(1000);
    for (int i = 0; i < rounds / 10; ++i) {
      forall(0, 1000, [&](int k) { numbers[static_cast<std::size_t>(k)] = i + k; });
      for (int k = 0; k < 1000; ++k) ASSERT_EQ(numbers[static_cast<std::size_t>(k)], i + k);
    }
  });
}

// A spawner whose tasks are drained sees its own writes when it continues, on whatever worker that
// is.
TEST_P(Litmus, DrainedSpawners) {
  run([] {
    for (int i = 0; i < rounds / 30; ++i) {
      std::vector<int> values(600);
      int spawned = 0;
      finish([&] {
        for (int k = 0; k < 600; ++k) {
          ++spawned;
          async([&, k, seen = spawned] { values[static_cast<std::size_t>(k)] = seen; });
        }
      });
      for (int k = 0; k < 600; ++k) ASSERT_EQ(values[static_cast<std::size_t>(k)], k + 1);
    }
  });
}

// A task that continues on another worker sees what it wrote before it suspended, and everything
// that was written before the call of resume().
TEST_P(Litmus, SuspendAndResume) {
  run([] {
    for (int i = 0; i < rounds; ++i) {
      base::spin_lock lock;
      scheduler::fiber* waiting = nullptr;
      bool told = false;
      int message = 0, answer = 0;
      finish([&] {
        async([&] {
          int own = i;
          lock.lock();
          if (!told) {
            scheduler::suspend("the test", [&](scheduler::fiber* f) {
              waiting = f;
              lock.unlock();
            });
          } else {
            lock.unlock();
          }
          answer = message + own;
        });
        async([&] {
          linger(i);
          message = i;
          lock.lock();
          told = true;
          scheduler::fiber* const f = waiting;
          lock.unlock();
          if (f != nullptr) scheduler::resume(f);
        });
      });
      ASSERT_EQ(answer, 2 * i);
    }
  });
}

TEST_P(Litmus, Yield) {
  run([] {
    int values[8] = {};
    finish([&] {
      for (int t = 0; t < 8; ++t) {
        async([&, t] {
          for (int i = 0; i < rounds / 8; ++i) {
            values[t] = values[t] + 1;
            scheduler::yield();
          }
        });
      }
    });
    for (int v : values) ASSERT_EQ(v, rounds / 8);
  });
}

}  // namespace
}  // namespace apgas::test

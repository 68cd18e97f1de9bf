// SPDX-License-Identifier: Apache-2.0

// Programs that deadlock if a waiting task holds its thread. Chapel's test suite has about twenty
// of them ("Chapel on X", section on synchronisation variables). Each runs on one worker and on
// two, with more waiting tasks than workers.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/channel.hpp>
#include <apgas/clock.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/phaser.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sync_var.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::async;
using apgas::coforall;
using apgas::finish;
using apgas::single_var;
using apgas::sync_var;

constexpr int many = 40;

class MoreWaitersThanWorkers : public testing::TestWithParam<int> {
 protected:
  template <class F>
  static void run(F f) {
    apgas::test::run_tasks(GetParam(), std::move(f));
  }
};
INSTANTIATE_TEST_SUITE_P(OnWorkers, MoreWaitersThanWorkers, testing::Values(1, 2));

template <class T>
using variables = std::vector<std::unique_ptr<sync_var<T>>>;

template <class T>
variables<T> make_variables(int n) {
  variables<T> made;
  for (int i = 0; i < n; ++i) made.push_back(std::make_unique<sync_var<T>>());
  return made;
}

TEST_P(MoreWaitersThanWorkers, ReadersSpawnedBeforeTheWriter) {
  run([] {
    sync_var<int> v;
    std::atomic<int> sum{0};
    finish([&] {
      for (int i = 0; i < many; ++i) async([&] { sum += v.read_fe(); });
      async([&] {
        for (int i = 0; i < many; ++i) v.write_ef(1);
      });
    });
    EXPECT_EQ(sum, many);
  });
}

TEST_P(MoreWaitersThanWorkers, WritersSpawnedBeforeTheReader) {
  run([] {
    sync_var<int> v;
    int sum = 0;
    finish([&] {
      for (int i = 0; i < many; ++i) async([&] { v.write_ef(1); });
      async([&] {
        for (int i = 0; i < many; ++i) sum += v.read_fe();
      });
    });
    EXPECT_EQ(sum, many);
  });
}

TEST_P(MoreWaitersThanWorkers, TheBodyWritesLast) {
  run([] {
    sync_var<int> v;
    std::atomic<int> seen{0};
    finish([&] {
      for (int i = 0; i < many; ++i) async([&] { seen += v.read_ff(); });
      v.write_ef(1);
    });
    EXPECT_EQ(seen, many);
  });
}

TEST_P(MoreWaitersThanWorkers, AChainAgainstTheOrderOfSpawns) {
  run([] {
    const auto v = make_variables<int>(many + 1);
    finish([&] {
      for (int i = many; i > 0; --i) {
        async([&, i] {
          v[static_cast<std::size_t>(i)]->write_ef(v[static_cast<std::size_t>(i - 1)]->read_fe() +
                                                   1);
        });
      }
      v[0]->write_ef(0);
    });
    EXPECT_EQ(v[many]->read_ff(), many);
  });
}

TEST_P(MoreWaitersThanWorkers, ARingWithOneToken) {
  run([] {
    const auto v = make_variables<int>(many);
    finish([&] {
      for (int i = 0; i < many; ++i) {
        async([&, i] {
          for (int k = 0; k < 5; ++k) {
            const int token = v[static_cast<std::size_t>(i)]->read_fe();
            v[static_cast<std::size_t>((i + 1) % many)]->write_ef(token + 1);
          }
        });
      }
      v[0]->write_ef(0);
    });
    EXPECT_EQ(v[0]->read_fe(), 5 * many);
  });
}

TEST_P(MoreWaitersThanWorkers, ASharedCounterAsALock) {
  run([] {
    sync_var<int> counter;
    counter.write_ef(0);
    coforall(0, many, [&](int) {
      for (int k = 0; k < 10; ++k) counter.write_ef(counter.read_fe() + 1);
    });
    EXPECT_EQ(counter.read_fe(), 10 * many);
  });
}

TEST_P(MoreWaitersThanWorkers, ABarrierOfVariables) {
  run([] {
    sync_var<int> arrived;
    single_var<bool> go;
    std::atomic<int> before{0};
    std::atomic<int> wrong{0};
    arrived.write_ef(0);
    coforall(0, many, [&](int) {
      ++before;
      const int n = arrived.read_fe() + 1;
      arrived.write_ef(n);
      if (n == many) go.write_ef(true);
      static_cast<void>(go.read_ff());
      if (before != many) ++wrong;
    });
    EXPECT_EQ(wrong, 0);
  });
}

TEST_P(MoreWaitersThanWorkers, ABoundedBuffer) {
  run([] {
    constexpr std::size_t size = 4;
    std::array<sync_var<int>, size> buffer;
    long sum = 0;
    finish([&] {
      async([&] {
        for (std::size_t i = 0; i < 200; ++i) buffer[i % size].write_ef(static_cast<int>(i));
      });
      async([&] {
        for (std::size_t i = 0; i < 200; ++i) sum += buffer[i % size].read_fe();
      });
    });
    EXPECT_EQ(sum, 199 * 200 / 2);
  });
}

TEST_P(MoreWaitersThanWorkers, BranchesOfAForkThatWaitForEachOther) {
  run([] {
    sync_var<int> a;
    sync_var<int> b;
    const auto [x, y] = apgas::fork_join(
        [&] {
          a.write_ef(1);
          return b.read_fe();
        },
        [&] {
          const int got = a.read_fe();
          b.write_ef(got + 1);
          return got;
        });
    EXPECT_EQ(x, 2);
    EXPECT_EQ(y, 1);
  });
}

TEST_P(MoreWaitersThanWorkers, IterationsThatWaitForTheirSuccessor) {
  run([] {
    const auto v = make_variables<int>(many + 1);
    v[many]->write_ef(1);
    coforall(0, many, [&](int i) {
      v[static_cast<std::size_t>(i)]->write_ef(v[static_cast<std::size_t>(i + 1)]->read_fe() + 1);
    });
    EXPECT_EQ(v[0]->read_ff(), many + 1);
  });
}

TEST_P(MoreWaitersThanWorkers, NestedFinishesThatWaitForOuterTasks) {
  run([] {
    const auto v = make_variables<int>(many);
    std::atomic<int> done{0};
    finish([&] {
      for (int i = 0; i < many; ++i) {
        async([&, i] {
          finish([&] {
            async([&, i] {
              static_cast<void>(v[static_cast<std::size_t>(i)]->read_fe());
              ++done;
            });
          });
        });
      }
      for (int i = many; i-- > 0;) v[static_cast<std::size_t>(i)]->write_ef(i);
    });
    EXPECT_EQ(done, many);
  });
}

TEST_P(MoreWaitersThanWorkers, FuturesThatWaitForVariables) {
  run([] {
    const auto v = make_variables<int>(many);
    std::vector<apgas::future<int>> results;
    for (int i = 0; i < many; ++i) {
      results.push_back(
          apgas::async_future([&, i] { return v[static_cast<std::size_t>(i)]->read_ff(); }));
    }
    for (int i = 0; i < many; ++i) v[static_cast<std::size_t>(i)]->write_ef(i);
    int sum = 0;
    for (const auto& f : results) sum += f.get();
    EXPECT_EQ(sum, many * (many - 1) / 2);
  });
}

TEST_P(MoreWaitersThanWorkers, WaitersOfAConditionThatOneCriticalSectionChanges) {
  run([] {
    int turn = 0;
    finish([&] {
      for (int i = many; i-- > 0;) {
        async([&, i] { apgas::when([&, i] { return turn == i; }, [&] { ++turn; }); });
      }
    });
    EXPECT_EQ(turn, many);
  });
}

TEST_P(MoreWaitersThanWorkers, AMutexHeldWhileWaiting) {
  run([] {
    apgas::mutex m;
    sync_var<int> v;
    int entered = 0;
    finish([&] {
      for (int i = 0; i < many; ++i) {
        async([&] {
          m.lock();
          static_cast<void>(v.read_fe());
          ++entered;
          m.unlock();
        });
      }
      for (int i = 0; i < many; ++i) v.write_ef(i);
    });
    EXPECT_EQ(entered, many);
  });
}

TEST_P(MoreWaitersThanWorkers, ASemaphoreOfOne) {
  run([] {
    apgas::semaphore s(0);
    std::atomic<int> done{0};
    finish([&] {
      for (int i = 0; i < many; ++i) {
        async([&] {
          s.acquire();
          ++done;
          s.release();
        });
      }
      s.release();
    });
    EXPECT_EQ(done, many);
  });
}

TEST_P(MoreWaitersThanWorkers, ALatchThatTheLastTaskOpens) {
  run([] {
    apgas::latch all(many + 1);
    std::atomic<int> through{0};
    finish([&] {
      for (int i = 0; i < many; ++i) {
        async([&] {
          all.count_down();
          all.wait();
          ++through;
        });
      }
      async([&] { all.count_down(); });
    });
    EXPECT_EQ(through, many);
  });
}

TEST_P(MoreWaitersThanWorkers, AChannelWithMoreReceiversThanRoom) {
  run([] {
    apgas::channel<int> c(1);
    std::atomic<int> sum{0};
    finish([&] {
      for (int i = 0; i < many; ++i) {
        async([&] {
          if (const auto x = c.receive()) sum += *x;
        });
      }
      for (int i = 0; i < many; ++i) {
        async([&] { c.send(1); });
      }
    });
    EXPECT_EQ(sum, many);
  });
}

TEST_P(MoreWaitersThanWorkers, AClockWhoseLastTaskIsSpawnedLast) {
  run([] {
    std::atomic<int> passed{0};
    finish([&] {
      auto c = apgas::clock::make();
      for (int i = 0; i < many; ++i) {
        async(apgas::clocked(c), [&, c] {
          c.advance();
          ++passed;
        });
      }
      c.advance();
      c.drop();
    });
    EXPECT_EQ(passed, many);
  });
}

TEST_P(MoreWaitersThanWorkers, AClockedTaskThatWaitsForAVariable) {
  run([] {
    sync_var<int> v;
    std::atomic<int> sum{0};
    finish([&] {
      auto c = apgas::clock::make();
      for (int i = 0; i < many; ++i) {
        async(apgas::clocked(c), [&, c] {
          c.advance();
          sum += v.read_fe();
          c.advance();
        });
      }
      c.advance();
      for (int i = 0; i < many; ++i) v.write_ef(1);
      c.advance();
    });
    EXPECT_EQ(sum, many);
  });
}

TEST_P(MoreWaitersThanWorkers, ConsumersOfAPhaserBeforeTheProducer) {
  run([] {
    std::atomic<int> seen{0};
    finish([&] {
      apgas::phaser ph;
      for (int i = 0; i < many; ++i) {
        async(apgas::phased(ph, apgas::phaser_mode::wait), [&, ph] {
          for (int k = 0; k < 3; ++k) ph.wait();
          ++seen;
        });
      }
      async(apgas::phased(ph, apgas::phaser_mode::signal), [ph] {
        for (int k = 0; k < 3; ++k) ph.signal();
      });
      ph.drop();
    });
    EXPECT_EQ(seen, many);
  });
}

}  // namespace

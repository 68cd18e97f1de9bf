// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/channel.hpp>
#include <apgas/errors.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "support/scheduler_fixture.hpp"

// Tests mutex, semaphore, latch and channel.
namespace {

using apgas::async;
using apgas::finish;
using apgas::illegal_operation;
using apgas::test::run_tasks;
using apgas::test::scaled;
using std::chrono::milliseconds;

TEST(Mutex, ExcludesTasksThatSuspendWhileTheyHoldIt) {
  for (const int workers : {1, 2, 4}) {
    run_tasks(workers, [] {
      apgas::mutex m;
      std::int64_t sum = 0;
      const int tasks = scaled(500, 60);
      finish([&] {
        for (int i = 0; i < tasks; ++i) {
          async([&, i] {
            const std::lock_guard hold(m);
            const std::int64_t before = sum;
            if (i % 3 == 0) apgas::yield();
            sum = before + 1;
          });
        }
      });
      EXPECT_EQ(sum, tasks);
    });
  }
}

TEST(Mutex, IsPassedOnInOrder) {
  run_tasks(1, [] {
    apgas::mutex m;
    std::vector<int> order;
    int arrived = 0;
    m.lock();
    finish([&] {
      for (int i = 0; i < 20; ++i) {
        async([&, i] {
          ++arrived;
          m.lock();
          order.push_back(i);
          m.unlock();
        });
        while (arrived <= i) apgas::yield();  // with one worker, the task waits by then
      }
      m.unlock();
    });
    EXPECT_EQ(order.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
  });
}

TEST(Mutex, TryLockAndMisuse) {
  run_tasks(1, [] {
    apgas::mutex m;
    EXPECT_THROW(m.unlock(), illegal_operation);
    EXPECT_TRUE(m.try_lock());
    EXPECT_FALSE(m.try_lock());
    m.unlock();
    EXPECT_THROW(apgas::atomic([&] { m.lock(); }), illegal_operation);
    apgas::mutex other;
    const std::scoped_lock both(m, other);
  });
  apgas::mutex m;
  EXPECT_THROW(m.lock(), illegal_operation) << "outside a task";
}

TEST(Semaphore, BoundsTheNumberOfTasksInside) {
  run_tasks(4, [] {
    apgas::semaphore s(3);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    finish([&] {
      for (int i = 0; i < scaled(300, 50); ++i) {
        async([&] {
          s.acquire();
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          apgas::yield();
          --inside;
          s.release();
        });
      }
    });
    EXPECT_LE(most, 3);
    apgas::latch all_three(3);  // all permits can be taken at the same time
    finish([&] {
      for (int i = 0; i < 3; ++i) {
        async([&] {
          s.acquire();
          all_three.arrive_and_wait();
          s.release();
        });
      }
    });
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
  });
}

TEST(Semaphore, ReleasesManyAtOnceAndFromForeignThreads) {
  run_tasks(2, [] {
    apgas::semaphore s(0);
    std::atomic<int> through{0};
    finish([&] {
      for (int i = 0; i < 100; ++i) {
        async([&] {
          s.acquire();
          ++through;
        });
      }
      std::thread foreign([&] { s.release(60); });
      foreign.join();
      s.release(40);
    });
    EXPECT_EQ(through, 100);
    EXPECT_THROW(s.release(-1), illegal_operation);
  });
  EXPECT_THROW(apgas::semaphore(-1), illegal_operation);
}

// A waiting task gets a permit even if others keep arriving.
TEST(Semaphore, NoTaskStarves) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [workers] {
      apgas::semaphore s(1);
      std::atomic<bool> stop{false};
      std::atomic<int> others{0};
      finish([&] {
        for (int i = 0; i < 4; ++i) {
          async([&] {
            while (!stop) {
              s.acquire();
              ++others;
              apgas::yield();
              s.release();
              if (others % 3 == 0) apgas::yield();
            }
          });
        }
        while (others < 4) apgas::yield();
        for (int i = 0; i < 100; ++i) {
          const int before = others;
          s.acquire();
          // With one worker each of the others comes before it once at most.
          if (workers == 1) {
            EXPECT_LE(others - before, 4);
          }
          apgas::yield();
          s.release();
        }
        stop = true;
      });
    });
  }
}

TEST(Latch, ReleasesAllWhenCountedDown) {
  for (int round = 0; round < scaled(200, 20); ++round) {
    run_tasks(2, [] {
      const int n = 20;
      std::atomic<int> before{0};
      finish([&] {
        // The latch is destroyed by the waiting task while others have just counted down.
        async([&] {
          apgas::latch l(n);
          for (int i = 0; i < n; ++i) {
            async([&] {
              ++before;
              l.count_down();
            });
          }
          l.wait();
          EXPECT_EQ(before, n);
          EXPECT_TRUE(l.try_wait());
        });
      });
    });
  }
}

TEST(Latch, ArriveAndWaitIsABarrierUsedOnce) {
  run_tasks(2, [] {
    const int n = 50;
    apgas::latch l(n);
    std::atomic<int> arrived{0};
    finish([&] {
      for (int i = 0; i < n; ++i) {
        async([&] {
          ++arrived;
          l.arrive_and_wait();
          EXPECT_EQ(arrived, n);
        });
      }
    });
    EXPECT_THROW(l.count_down(), illegal_operation);
    EXPECT_THROW(l.count_down(-1), illegal_operation);
    apgas::latch(0).wait();
  });
}

TEST(Channel, KeepsOrderAndBounds) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      apgas::channel<std::unique_ptr<int>> c(4);
      const int n = scaled(5000, 500);
      std::atomic<int> sent{0};
      finish([&] {
        async([&] {
          for (int i = 0; i < n; ++i) {
            c.send(std::make_unique<int>(i));
            ++sent;
          }
          c.close();
        });
        int expected = 0;
        while (const auto value = c.receive()) {
          EXPECT_EQ(**value, expected++);
          EXPECT_LE(sent, expected + 5) << "four in the channel and one on its way";
        }
        EXPECT_EQ(expected, n);
      });
      EXPECT_FALSE(c.receive()) << "closed for good";
    });
  }
}

TEST(Channel, ManySendersAndReceivers) {
  run_tasks(4, [] {
    apgas::channel<int> c(3);
    std::atomic<std::int64_t> sum{0};
    const int senders = 8;
    const int each = scaled(500, 50);
    apgas::latch done(senders);
    finish([&] {
      for (int r = 0; r < 5; ++r) {
        async([&] {
          while (const auto value = c.receive()) sum += *value;
        });
      }
      for (int s = 0; s < senders; ++s) {
        async([&] {
          for (int i = 1; i <= each; ++i) c.send(i);
          done.count_down();
        });
      }
      done.wait();
      c.close();
    });
    EXPECT_EQ(sum, std::int64_t{senders} * each * (each + 1) / 2);
  });
}

// A sender gets its values in, and a receiver gets some out, even if others keep arriving.
TEST(Channel, NoTaskStarves) {
  for (const int workers : {1, 2}) {
    run_tasks(workers, [] {
      apgas::channel<int> c(2);
      apgas::latch done(4);
      std::atomic<bool> stop{false};
      std::atomic<std::int64_t> sent{0};
      std::atomic<std::int64_t> received{0};
      finish([&] {
        for (int i = 0; i < 4; ++i) {
          async([&] {
            for (int x = 1; !stop; ++x) {
              c.send(x);
              sent += x;
            }
            done.count_down();
          });
          async([&] {
            while (const auto x = c.receive()) received += *x;
          });
        }
        finish([&] {
          async([&] {
            for (int x = 1; x <= 100; ++x) {
              c.send(x);
              sent += x;
            }
          });
          async([&] {
            for (int k = 0; k < 100; ++k) received += c.receive().value();
          });
        });
        stop = true;
        done.wait();
        c.close();
      });
      EXPECT_EQ(sent, received);
    });
  }
}

TEST(Channel, ClosingReleasesWaitingTasks) {
  run_tasks(2, [] {
    apgas::channel<int> full(1);
    apgas::channel<int> empty(1);
    EXPECT_TRUE(full.try_send(1));
    EXPECT_FALSE(full.try_send(2));
    EXPECT_FALSE(empty.try_receive());
    finish([&] {
      for (int i = 0; i < 10; ++i) {
        async([&] { EXPECT_THROW(full.send(3), illegal_operation); });
        async([&] { EXPECT_FALSE(empty.receive()); });
      }
      apgas::sleep_for(milliseconds(2));
      full.close();
      empty.close();
      empty.close();
    });
    EXPECT_EQ(full.receive(), 1) << "what was sent is not lost";
    EXPECT_FALSE(full.receive());
    EXPECT_THROW(static_cast<void>(full.try_send(4)), illegal_operation);
    EXPECT_THROW(apgas::channel<int>(0), illegal_operation);
  });
}

TEST(Channel, AValueThatCannotBeMovedChangesNothing) {
  static bool breaks;
  struct fragile {
    fragile() = default;
    fragile(fragile&&) {
      if (breaks) throw std::domain_error("move");
    }
    fragile& operator=(fragile&&) = default;
  };
  breaks = false;
  run_tasks(1, [] {
    apgas::channel<fragile> c(1);
    breaks = true;
    EXPECT_THROW(static_cast<void>(c.try_send({})), std::domain_error);
    breaks = false;
    EXPECT_TRUE(c.try_send({})) << "the position is free again";
    breaks = true;
    EXPECT_THROW(static_cast<void>(c.try_receive()), std::domain_error);
    breaks = false;
    EXPECT_TRUE(c.try_receive()) << "the value is still there";
    EXPECT_TRUE(c.try_send({}));
  });
}

TEST(Channel, RefusesForeignThreadsWithoutEffect) {
  apgas::channel<int> c(1);
  EXPECT_THROW(static_cast<void>(c.try_send(1)), illegal_operation);
  EXPECT_THROW(static_cast<void>(c.try_receive()), illegal_operation);
  run_tasks(1, [&] {
    EXPECT_TRUE(c.try_send(1));
    EXPECT_EQ(c.try_receive(), 1);
  });
}

}  // namespace

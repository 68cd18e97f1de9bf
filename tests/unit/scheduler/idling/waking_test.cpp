// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <apgas/async.hpp>
#include <apgas/fork_join.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Sleeping workers are woken for every task that becomes ready, and the poller does not miss
// messages.
namespace apgas::test {
namespace {

struct setting {
  int workers;
  bool asymmetric;
  friend std::ostream& operator<<(std::ostream& out, const setting& s) {
    return out << s.workers << (s.asymmetric ? " workers" : " workers, fenced");
  }
};

class Waking : public testing::TestWithParam<setting> {
 protected:
  scheduler::config settings() const {
    scheduler::config c = task_place::config_for(GetParam().workers);
    c.asymmetric_fence = GetParam().asymmetric;
    c.spin = std::chrono::nanoseconds{0};  // to sleep as soon as possible
    return c;
  }
  // Waits until, most likely, all other workers sleep.
  static void wait_for_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds{3}); }
};
INSTANTIATE_TEST_SUITE_P(All, Waking,
                         testing::Values(setting{2, true}, setting{4, true}, setting{12, true},
                                         setting{2, false}, setting{4, false}, setting{12, false}),
                         [](const auto& test) {
                           return std::to_string(test.param.workers) +
                                  (test.param.asymmetric ? "Asymmetric" : "Fenced");
                         });

// There are as many tasks as workers, and each of them ends only when all have begun. So every
// worker must run one.
TEST_P(Waking, EveryTaskGetsAWorker) {
  run_tasks(settings(), [&] {
    for (int i = 0; i < 30; ++i) {
      if (i % 2 == 0) wait_for_sleep();
      std::atomic<int> begun{0}, together{0};
      auto meet = [&] {
        ++begun;
        together += spins_until([&] { return begun == GetParam().workers; }) ? 1 : 0;
      };
      finish([&] {
        for (int k = 1; k < GetParam().workers; ++k) async(meet);
        meet();
      });
      EXPECT_EQ(together, GetParam().workers);
    }
  });
}

TEST_P(Waking, BranchesOfAForkJoinGetWorkers) {
  run_tasks(settings(), [&] {
    for (int i = 0; i < 30; ++i) {
      if (i % 2 == 0) wait_for_sleep();
      std::atomic<int> begun{0};
      auto meet = [&] {
        ++begun;
        return spins_until([&] { return begun == 2; });
      };
      const auto [a, b] = fork_join(meet, meet);
      EXPECT_TRUE(a && b);
    }
  });
}

// Each task spawns the next one and ends only when all have begun. So each needs a worker of its
// own.
TEST_P(Waking, ATaskSpawnedByAStolenTaskGetsAWorker) {
  run_tasks(settings(), [&] {
    for (int i = 0; i < 30; ++i) {
      if (i % 2 == 0) wait_for_sleep();
      std::atomic<int> begun{0}, together{0};
      std::function<void()> chain = [&] {
        if (++begun < GetParam().workers) async([&] { chain(); });
        together += spins_until([&] { return begun == GetParam().workers; }) ? 1 : 0;
      };
      finish([&] { chain(); });
      EXPECT_EQ(together, GetParam().workers);
    }
  });
}

TEST_P(Waking, AForeignThreadWakesAWorker) {
  task_place place(settings());
  for (int i = 0; i < 300; ++i) {
    if (i % 10 == 0) wait_for_sleep();
    std::atomic<bool> ran{false};
    place.run([&] { ran = true; });  // a lost wake-up hangs here
    EXPECT_TRUE(ran);
  }
}

TEST_P(Waking, AForeignThreadResumesATask) {
  constexpr int rounds = 100;
  std::atomic<scheduler::fiber*> waiting{nullptr};
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      scheduler::fiber* f = nullptr;
      while ((f = waiting.exchange(nullptr)) == nullptr) sched_yield();
      if (i % 10 == 0) wait_for_sleep();
      scheduler::resume(f);
    }
  });
  int resumed = 0;
  run_tasks(settings(), [&] {
    for (int i = 0; i < rounds; ++i) {
      scheduler::suspend("the test", [&](scheduler::fiber* f) { waiting = f; });
      ++resumed;
    }
    other.join();  // its last resume() must return before the scheduler ends
  });
  EXPECT_EQ(resumed, rounds);
}

// A network with messages that do not become tasks. Each arrives some time after the previous one
// was taken, as when another place writes one word after the other.
class message_series final : public scheduler::external_events {
 public:
  bool poll(unsigned) noexcept override {
    if (clock::now() < next_) return false;
    next_ = clock::now() + std::chrono::milliseconds{1};
    ++taken;
    return true;
  }
  bool pending() noexcept override { return false; }
  std::chrono::nanoseconds max_sleep(unsigned) noexcept override {
    ++naps;
    return std::chrono::milliseconds{100};
  }

  std::atomic<int> taken{0};
  std::atomic<int> naps{0};

 private:
  using clock = std::chrono::steady_clock;
  // Late enough for the worker to sleep as the poller by then.
  clock::time_point next_ = clock::now() + std::chrono::milliseconds{200};
};

TEST(Polling, ContinuesWithoutSleepWhileMessagesArrive) {
  message_series messages;
  scheduler::config settings = task_place::config_for(1);
  settings.spin = std::chrono::milliseconds{50};
  settings.events = &messages;
  task_place place(settings);
  while (messages.taken < 200 && messages.naps < 100) sched_yield();
  EXPECT_LT(messages.naps, 20);
}

// A network whose descriptor is always readable although nothing has arrived.
class false_alarm final : public scheduler::external_events {
 public:
  false_alarm() { eventfd_write(event_, 1); }
  ~false_alarm() override { close(event_); }

  bool poll(unsigned) noexcept override {
    ++polls;
    return false;
  }
  bool pending() noexcept override { return false; }
  std::chrono::nanoseconds max_sleep(unsigned) noexcept override {
    return std::chrono::nanoseconds::max();
  }
  int descriptor() noexcept override { return event_; }

  std::atomic<int> polls{0};

 private:
  const int event_ = eventfd(0, EFD_CLOEXEC);
};

TEST(Polling, LeavesTheCoreToOthersAfterSpuriousWakeUps) {
  false_alarm network;
  scheduler::config settings = task_place::config_for(1);
  settings.spin = std::chrono::nanoseconds{0};
  settings.events = &network;
  task_place place(settings);
  while (network.polls < 500) sched_yield();  // the worker has noticed that polls find nothing
  const int before = network.polls;
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  EXPECT_LT(network.polls - before, 1000);  // at most 300 with pauses; without them 100,000
  std::atomic<bool> ran{false};
  place.run([&] { ran = true; });
  EXPECT_TRUE(ran);
}

// A network with several messages, of which each poll takes one. No worker is told of them, so only
// the fallback poller notices them.
class one_at_a_time final : public scheduler::external_events {
 public:
  bool poll(unsigned) noexcept override {
    if (left == 0) return false;
    --left;
    return true;
  }
  bool pending() noexcept override { return left == all; }  // false after the first poll
  std::chrono::nanoseconds max_sleep(unsigned) noexcept override {
    return std::chrono::nanoseconds::max();
  }

  static constexpr int all = 3;
  std::atomic<int> left{0};
};

TEST(Polling, AWorkerTakesTheMessagesThatTheFallbackPollerHasLeft) {
  one_at_a_time network;
  scheduler::config settings = task_place::config_for(1);
  settings.spin = std::chrono::nanoseconds{0};
  settings.events = &network;
  task_place place(settings);
  place.run([] {});
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // most likely it sleeps now
  network.left = one_at_a_time::all;
  place.tasks().keep_polling();
  EXPECT_TRUE(spins_until([&] { return network.left == 0; }));
}

}  // namespace
}  // namespace apgas::test

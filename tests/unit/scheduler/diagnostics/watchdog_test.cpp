// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/blocking.hpp>
#include <apgas/clock.hpp>
#include <apgas/latch.hpp>
#include <apgas/monitor.hpp>
#include <apgas/mutex.hpp>
#include <apgas/scheduler/place_watch.hpp>
#include <apgas/scheduler/quit_signal.hpp>
#include <apgas/sleep.hpp>

#include "support/scheduler_fixture.hpp"

// The watchdog reports which tasks wait, and for what, when no task runs.
namespace apgas::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

// The reports of a watchdog. A line about a task that has run for as long as the patience is not
// kept: the patience is short here, and on a loaded machine any task may be held up for so long.
// hang_test.py tests these lines.
class reports {
 public:
  void add(const std::string& line) {
    if (line.starts_with("worker ")) return;
    const std::lock_guard guard(mutex_);
    last_ = line;
    ++count_;
    come_.notify_all();
  }

  // Waits for report number `n`, counted from 1, and returns its text.
  // Context: a thread that is not a worker.
  std::string wait_for(int n) {
    std::unique_lock lock(mutex_);
    come_.wait(lock, [&] { return count_ >= n; });
    return last_;
  }
  int count() {
    const std::lock_guard guard(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable come_;
  std::string last_;
  int count_ = 0;
};

scheduler::config watched(reports& said, std::chrono::milliseconds patience, int workers = 2) {
  scheduler::config settings = task_place::config_for(workers);
  settings.watchdog_patience = patience;
  settings.watchdog_report = [&said](const std::string& line) { said.add(line); };
  return settings;
}

TEST(Watchdog, NamesTheAwaitedConstructsAndTheSpawnSites) {
  reports said;
  std::string text;
  latch gate(1);
  std::thread other([&] {
    text = said.wait_for(1);
    gate.count_down();
  });
  const int line = __LINE__ + 8;
  run_tasks(watched(said, 50ms, 1), [&] {  // one worker, so that the first task is on main's stack
    monitor place_to_wait;
    bool open = false;
    mutex held;
    held.lock();
    clock c = clock::make();
    finish([&] {
      for (int i = 0; i < 3; ++i) async([&] { gate.wait(); });
      async(name("reader"), [&] { place_to_wait.when([&] { return open; }, [] {}); });
      async([&] {
        held.lock();
        held.unlock();
      });
      async([&] {
        gate.wait();
        place_to_wait.atomic([&] { open = true; });
        held.unlock();
      });
    });
    c.drop();
  });
  other.join();
  EXPECT_THAT(text, AllOf(HasSubstr("nothing has run here for 0.05 s while 6 tasks wait:"),
                          ContainsRegex("3 in latch::wait at [^ ]*:[0-9]+, spawned at "),
                          HasSubstr(std::string("watchdog_test.cpp:").append(std::to_string(line))),
                          ContainsRegex("1 in when at [^ ]*:[0-9]+, \"reader\", spawned at "),
                          ContainsRegex("1 in mutex::lock at [^ ]*:[0-9]+, spawned at ")));
}

TEST(Watchdog, NamesAPhaseOfAClock) {
  reports said;
  std::string text;
  latch gate(1);
  std::thread other([&] {
    text = said.wait_for(1);
    gate.count_down();
  });
  run_tasks(watched(said, 50ms), [&] {
    clock c = clock::make();
    for (int i = 0; i < 500; ++i) {
      async(clocked(c), [c] {
        c.advance();
        c.advance();
      });
    }
    c.advance();
    gate.wait();
    c.advance();
  });
  other.join();
  EXPECT_THAT(text, AllOf(HasSubstr("while 501 tasks wait: 500 in a phase of a clock at "),
                          ContainsRegex("\\(phase 1 of the clock made at [^ ]*:[0-9]+ awaits the "
                                        "task that is registered on it and has not arrived: "),
                          HasSubstr("1 in latch::wait")));
}

TEST(Watchdog, ReportsOnceUntilATaskHasRun) {
  reports said;
  latch first(1);
  latch second(1);
  int between = 0;
  std::thread other([&] {
    said.wait_for(1);
    std::this_thread::sleep_for(200ms);  // ten times the patience
    between = said.count();
    first.count_down();
    said.wait_for(2);
    second.count_down();
  });
  run_tasks(watched(said, 20ms), [&] {
    first.wait();
    second.wait();
  });
  other.join();
  EXPECT_EQ(between, 1);
}

TEST(Watchdog, IsSilentWhileTasksRunOrWaitForATimer) {
  reports said;
  run_tasks(watched(said, 40ms), [&] {
    async([] { sleep_for(400ms); });
    const auto end = std::chrono::steady_clock::now() + 200ms;
    while (std::chrono::steady_clock::now() < end) {
    }
  });
  EXPECT_EQ(said.count(), 0);
}

TEST(Watchdog, IsSilentIfNoTaskWaits) {
  reports said;
  task_place place(watched(said, 10ms));
  place.run([] {
    finish([] {
      for (int i = 0; i < 100; ++i) async([] { scheduler::yield(); });
    });
  });
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(said.count(), 0);
}

// Returns the handler of SIGQUIT.
auto quit_handler() {
  struct sigaction present{};
  sigaction(SIGQUIT, nullptr, &present);
  return present.sa_handler;
}

TEST(Watchdog, HandlesSigquitWhileItExistsAndOnlyInPlaceOfTheDefault) {
  reports said;
  scheduler::config settings = watched(said, 1h, 1);
  settings.report_on_signal = true;
  const auto before = std::signal(SIGQUIT, SIG_DFL);
  run_tasks(settings, [&] {
    while (quit_handler() == SIG_DFL) scheduler::yield();
    std::raise(SIGQUIT);
    blocking([&] { said.wait_for(1); });
  });
  EXPECT_EQ(quit_handler(), SIG_DFL);
  std::signal(SIGQUIT, SIG_IGN);
  run_tasks(settings, [&] { blocking([] { std::this_thread::sleep_for(50ms); }); });
  EXPECT_EQ(quit_handler(), SIG_IGN);
  std::signal(SIGQUIT, before);
}

// What the watchdog begins with; the moment between its handler and its first look cannot be hit.
TEST(QuitSignal, ThatComesAtOnceIsSeen) {
  const auto before = std::signal(SIGQUIT, SIG_DFL);
  for (int i = 0; i < 3; ++i) {
    const scheduler::quit_signal_handler handler;
    std::raise(SIGQUIT);
    EXPECT_EQ(scheduler::quit_signals(), handler.received_before() + 1);
  }
  std::signal(SIGQUIT, before);
}

// The tests below read the state of tasks that wait, and these change it as soon as they go on.
void wait_for_moments(mutex& m) {
  finish([&] {
    async([] { finish([] { async([] { yield(); }); }); });
    for (int i = 0; i < 2; ++i) {
      async([&] {
        const std::lock_guard hold(m);
        yield();
      });
    }
    const clock c = clock::make();
    for (int i = 0; i < 2; ++i) async(clocked(c), [c] { c.advance(); });
  });
}

TEST(Watchdog, SearchesForCyclesWhileTasksGoOn) {
  reports said;
  task_place place(watched(said, 1h));
  std::atomic<bool> ended{false};
  std::thread searches([&] {
    const scheduler::place_watch watch(place.tasks(), false);
    while (!ended) EXPECT_EQ(watch.explain_long_waits(nullptr, 0ms).cycle, "");
  });
  place.run([] {
    mutex m;
    for (int i = 0; i < 2'000; ++i) wait_for_moments(m);
  });
  ended = true;
  searches.join();
}

TEST(Watchdog, ListsEdgesWhileTasksGoOn) {
  constexpr int wanted = 5;
  reports said;
  task_place place(watched(said, 1h));
  std::atomic<int> lists{0};
  std::thread lists_edges([&] {
    const scheduler::place_watch watch(place.tasks(), false);
    while (lists < wanted) {
      const auto waits = watch.explain(nullptr, 0, scheduler::graph_purpose::edges);
      EXPECT_EQ(waits.cycle, "");
      if (!waits.asleep) ++lists;
    }
  });
  place.run([&] {
    mutex m;
    while (lists < wanted) wait_for_moments(m);
  });
  lists_edges.join();
}

TEST(Watchdog, FollowsStacksThatComeAndGo) {
  reports said;
  run_tasks(watched(said, 1ms), [&] {
    for (int round = 0; round < 3; ++round) {
      latch all(1);
      finish([&] {
        for (int i = 0; i < scaled(3000, 500); ++i) async([&] { all.wait(); });
        blocking([&] { said.wait_for(round + 1); });
        all.count_down();
      });
    }
  });
  EXPECT_GE(said.count(), 3);
}

}  // namespace
}  // namespace apgas::test

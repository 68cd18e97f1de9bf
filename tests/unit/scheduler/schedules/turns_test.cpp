// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/scheduler/seeded_schedule.hpp>

#include "turns.hpp"

namespace apgas::scheduler {
namespace {

using namespace std::chrono_literals;

// A place without a scheduler.
class test_place final : public turns::place {
 public:
  turns::time next_timer() const noexcept override { return timer; }
  bool is_stuck() noexcept override { return stuck; }
  void explain_with(turns::explain_function) noexcept override {}
  void report_deadlock(std::span<turns::place* const>) noexcept override { ++reports; }

  turns::time timer = turns::time::max();
  std::atomic<bool> stuck{false};
  std::atomic<int> reports{0};
};

// Runs body(turns, participant, number) on so many threads, as the workers of one place.
class run_of_turns {
 public:
  using body = std::function<void(turns&, turns::participant&, int)>;

  run_of_turns(std::uint64_t seed, int workers, const body& each) : schedule_(seed, 1) {
    turns& t = schedule_.internals();
    t.add_place(0, workers, place);
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; ++i) {
      threads.emplace_back([&t, &each, i] {
        turns::participant& self = t.worker(0, i);
        t.pass(self);
        each(t, self, i);
        t.leave(self);
      });
    }
    schedule_.place_is_ready();
    for (std::thread& thread : threads) thread.join();
    schedule_.end();
    t.remove_place(0);
    description = schedule_.description();
  }

  test_place place;
  std::string description;

 private:
  seeded_schedule schedule_;
};

// The order in which three threads take forty turns.
std::vector<int> order_of(std::uint64_t seed, std::string* description = nullptr) {
  std::vector<int> order;  // only the thread that has the turn writes
  const run_of_turns run(seed, 3, [&](turns& t, turns::participant& self, int i) {
    for (int k = 0; k < 40; ++k) {
      order.push_back(i);
      t.pass(self);
    }
  });
  if (description != nullptr) *description = run.description;
  return order;
}

TEST(Turns, TheSameSeedGivesTheSameOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::string first;
    std::string second;
    EXPECT_EQ(order_of(seed, &first), order_of(seed, &second));
    EXPECT_EQ(first, second);
    EXPECT_EQ(first.find("may not reproduce"), std::string::npos);
  }
}

TEST(Turns, SeedsGiveDifferentOrders) { EXPECT_NE(order_of(1), order_of(2)); }

TEST(Turns, OnlyOneThreadRuns) {
  std::atomic<int> running{0};
  const run_of_turns run(3, 4, [&](turns& t, turns::participant& self, int) {
    for (int k = 0; k < 200; ++k) {
      EXPECT_EQ(++running, 1);
      --running;
      t.pass(self);
    }
  });
}

TEST(Turns, ASleeperWakesWithItsTokenOrAtItsTime) {
  parker sleep;
  bool with_token = false;
  bool at_time = true;
  turns::time woken_at{};
  turns::time until{};
  const run_of_turns run(7, 2, [&](turns& t, turns::participant& self, int i) {
    if (i == 0) {
      with_token = t.sleep(self, sleep, turns::time::max());
      until = t.now() + 1h;  // nothing else can run, so the time jumps
      at_time = !t.sleep(self, sleep, until);
      woken_at = t.now();
    } else {
      sleep.unpark();
    }
  });
  EXPECT_TRUE(with_token);
  EXPECT_TRUE(at_time);
  EXPECT_GE(woken_at, until);
  EXPECT_LT(woken_at, until + 1min);
}

TEST(Turns, ThreadsThatTakeNoPartGetNoDecision) {
  seeded_schedule schedule(1, 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(schedule.choices().below(100), 0u);
}

// Returns the description of a run of two threads that pass their turn while they hold a mutex.
std::string run_with_mutex(std::uint64_t seed) {
  std::mutex plain;
  const run_of_turns run(seed, 2, [&](turns& t, turns::participant& self, int) {
    for (int k = 0; k < 2; ++k) {
      const std::lock_guard hold(plain);
      t.pass(self);
    }
  });
  return run.description;
}

TEST(Turns, AThreadThatBlocksLosesItsTurn) {
  std::string description;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    description = run_with_mutex(seed);
    if (description.find("may not reproduce") != std::string::npos) break;
  }
  EXPECT_NE(description.find("a task or a call blocked its thread"), std::string::npos);
}

TEST(Turns, TheEndLetsAllRun) {
  seeded_schedule schedule(9, 1);
  turns& t = schedule.internals();
  test_place place;
  t.add_place(0, 2, place);  // the second worker never comes
  std::thread waits([&] { t.pass(t.worker(0, 0)); });
  schedule.place_is_ready();
  schedule.end();
  waits.join();
  EXPECT_TRUE(t.ended());
  t.remove_place(0);
}

}  // namespace
}  // namespace apgas::scheduler

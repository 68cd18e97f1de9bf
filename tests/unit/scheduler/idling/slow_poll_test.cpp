// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <apgas/scheduler/place_watch.hpp>

#include "support/scheduler_fixture.hpp"

// A look at a place whose polls of the network take long, as those of MPI do where other programs
// use the cores.
namespace apgas::test {
namespace {

using namespace std::chrono_literals;

class slow_network : public scheduler::external_events {
 public:
  bool poll(unsigned) noexcept override {
    std::this_thread::sleep_for(20ms);
    ++polls;
    return false;
  }
  bool pending() noexcept override { return false; }
  std::chrono::nanoseconds max_sleep(unsigned) noexcept override { return 1ms; }

  std::atomic<int> polls{0};
};

TEST(SlowPolls, DoNotHideThatAllWorkersSleep) {
  slow_network network;
  scheduler::config settings = task_place::config_for(1);
  settings.events = &network;
  settings.spin = 0ns;
  task_place place(settings);
  const scheduler::place_watch watch(place.tasks(), false);
  while (!watch.look(false, [] {}).asleep) std::this_thread::sleep_for(1ms);
  constexpr int looks = 20;
  int asleep = 0;
  for (int i = 0; i < looks; ++i) {
    std::this_thread::sleep_for(7ms);
    asleep += watch.look(false, [] {}).asleep ? 1 : 0;
  }
  EXPECT_GT(asleep, looks / 2);
  const int before = network.polls;
  while (network.polls == before) std::this_thread::yield();  // it polls again
}

}  // namespace
}  // namespace apgas::test

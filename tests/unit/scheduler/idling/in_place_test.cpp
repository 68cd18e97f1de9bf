// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <apgas/async.hpp>
#include <apgas/scheduler/poll_in_place.hpp>

#include "support/scheduler_fixture.hpp"
#include "support/waiting.hpp"

// Tasks that poll the network themselves, tasks that a poll hands to the scheduling loop directly,
// and polls for workers that are busy.
namespace apgas::test {
namespace {

// A network that calls a function when it is polled.
class test_network : public scheduler::external_events {
 public:
  bool poll(unsigned looks) noexcept override {
    longest_look = std::max(longest_look.load(), looks);
    return on_poll();
  }
  bool pending() noexcept override { return false; }
  std::chrono::nanoseconds max_sleep(unsigned) noexcept override {
    return std::chrono::milliseconds{1};
  }

  std::function<bool()> on_poll = [] { return false; };
  std::atomic<unsigned> longest_look{0};
};

// In cycles: longer than any host keeps the thread from its core.
constexpr std::uint64_t very_patient = std::uint64_t{1} << 40;

// Polls in place once. The fallback poller may have asked the worker to look for other tasks first.
bool polls_in_place() {
  return yields_until([] { return scheduler::poll_in_place(); });
}

scheduler::config with(test_network& network, int workers = 1) {
  scheduler::config settings = task_place::config_for(workers);
  settings.events = &network;
  return settings;
}

TEST(WaitInPlace, EndsWhenTheMessageHasCome) {
  test_network network;
  std::atomic<int> left{20};
  network.on_poll = [&] { return left > 0 && --left == 0; };
  run_tasks(with(network), [&] {
    EXPECT_TRUE(yields_until([&] {
      left = 20;
      return scheduler::wait_in_place([&] { return left == 0; }, very_patient);
    }));
    EXPECT_GT(network.longest_look, 0U) << "it looks for arrivals, since it has nothing else to do";
  });
}

TEST(WaitInPlace, EndsAfterAMoment) {
  test_network network;
  run_tasks(with(network), [] { EXPECT_FALSE(scheduler::wait_in_place([] { return false; })); });
}

TEST(WaitInPlace, IsRefusedWhileAnotherTaskIsReady) {
  test_network network;
  run_tasks(with(network), [&] {
    EXPECT_TRUE(polls_in_place());
    bool ran = false;
    async([&] { ran = true; });
    EXPECT_FALSE(scheduler::poll_in_place());
    EXPECT_TRUE(yields_until([&] { return ran; }));
    EXPECT_TRUE(polls_in_place());
  });
}

TEST(WaitInPlace, IsRefusedWithoutANetworkAndOnASharedCore) {
  run_tasks(1, [] { EXPECT_FALSE(scheduler::poll_in_place()); });
  test_network network;
  scheduler::config shared = with(network);
  shared.oversubscribed = true;
  run_tasks(shared, [] { EXPECT_FALSE(scheduler::poll_in_place()); });
  EXPECT_EQ(network.longest_look, 0U) << "other places need the core";
}

// Tasks that arrive in a poll, each of which notes its number.
class Arrivals : public testing::TestWithParam<int> {
 protected:
  struct numbered : scheduler::external_task {
    Arrivals* test = nullptr;
    int number = 0;
  };
  static scheduler::task_counter* note(scheduler::external_task* work, scheduler::fiber&) noexcept {
    const auto& task = *static_cast<numbered*>(work);
    task.test->order.push_back(task.number);
    task.test->ran.store(task.test->order.size());
    return nullptr;
  }
  void arrive(task_place& place, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      tasks[i].run = note;
      tasks[i].test = this;
      tasks[i].number = static_cast<int>(i);
      place.tasks().submit_from_poll(&tasks[i]);
    }
  }

  std::vector<numbered> tasks = std::vector<numbered>(6);
  std::vector<int> order;  // one worker
  std::atomic<std::size_t> ran{0};
};
INSTANTIATE_TEST_SUITE_P(AtOnce, Arrivals, testing::Values(1, 3, 6));

// The first task goes to the loop directly, the others through the queue.
TEST_P(Arrivals, RunInTheirOrder) {
  const auto at_once = static_cast<std::size_t>(GetParam());
  test_network network;
  std::atomic<task_place*> receiver{nullptr};
  std::size_t next = 0;
  network.on_poll = [&] {
    if (receiver == nullptr || next == tasks.size()) return false;
    arrive(*receiver, next, next + at_once);
    next += at_once;
    return true;
  };
  task_place place(with(network));
  receiver = &place;
  EXPECT_TRUE(spins_until([&] { return ran == tasks.size(); }));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

// A task that waits in place takes the message, and lets the task run that came with it.
TEST_F(Arrivals, InThePollOfATaskRunAfterIt) {
  test_network network;
  std::atomic<task_place*> receiver{nullptr};
  std::atomic<bool> expected{false};
  network.on_poll = [&] {
    const bool by_the_task = scheduler::current_fiber() != nullptr;  // not the fallback poller
    if (!by_the_task || !expected.exchange(false)) return false;
    arrive(*receiver, 0, 1);
    return true;
  };
  task_place place(with(network));
  receiver = &place;
  place.run([&] {
    EXPECT_TRUE(yields_until([&] {
      expected = true;
      const bool polled = scheduler::poll_in_place();
      expected = false;
      return polled;
    }));
    EXPECT_EQ(ran, 0U) << "a task must not run on top of another one";
    EXPECT_FALSE(scheduler::poll_in_place());
    EXPECT_TRUE(yields_until([&] { return ran == 1; }));
  });
}

// A network with a descriptor.
class signalled_network final : public test_network {
 public:
  signalled_network() {
    on_poll = [this] {
      ++polls;
      eventfd_t value = 0;
      return !always_readable && eventfd_read(event_, &value) == 0;
    };
  }
  ~signalled_network() override { close(event_); }
  int descriptor() noexcept override { return event_; }
  bool arm() noexcept override {
    ++armed;
    return true;
  }
  void signal() const { eventfd_write(event_, 1); }

  std::atomic<int> polls{0};
  std::atomic<int> armed{0};
  std::atomic<bool> always_readable{false};

 private:
  const int event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

TEST(BusyWorkers, AreHelpedByTheDescriptor) {
  signalled_network network;
  run_tasks(with(network), [&] {
    for (int round = 0; round < 50; ++round) {
      const int armed = network.armed;
      const int polls = network.polls;
      EXPECT_TRUE(spins_until([&] { return network.armed > armed; })) << "it waits for arrivals";
      network.signal();
      EXPECT_TRUE(spins_until([&] { return network.polls > polls; }));
    }
  });
}

// UCX over TCP keeps its descriptor readable while another place is being connected.
TEST(BusyWorkers, KeepTheirCoreDespiteSpuriousWakeUps) {
  signalled_network network;
  run_tasks(with(network), [&] {
    network.always_readable = true;
    network.signal();
    EXPECT_TRUE(spins_until([&] { return network.polls > 10; }));
    const int before = network.polls;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
    while (std::chrono::steady_clock::now() < end) continue;
    EXPECT_LT(network.polls - before, 2000);  // some 300 with pauses; without them 20,000
    network.always_readable = false;
  });
}

}  // namespace
}  // namespace apgas::test

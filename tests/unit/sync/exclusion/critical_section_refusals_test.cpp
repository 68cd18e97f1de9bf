// SPDX-License-Identifier: Apache-2.0
// Inside a critical section, every operation that may suspend or spawn is refused. The message
// names the operation as the caller wrote it.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <apgas/accumulator.hpp>
#include <apgas/async.hpp>
#include <apgas/atomic.hpp>
#include <apgas/channel.hpp>
#include <apgas/clock.hpp>
#include <apgas/finish_reduce.hpp>
#include <apgas/forall.hpp>
#include <apgas/latch.hpp>
#include <apgas/phaser.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sync_var.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

using apgas::test::run_tasks;

void expect_refused(const std::string& name, const std::function<void()>& operation) {
  try {
    apgas::atomic([&] { operation(); });
    FAIL() << name << " was allowed";
  } catch (const apgas::illegal_operation& refused) {
    EXPECT_NE(std::string(refused.what()).find(name + " "), std::string::npos) << refused.what();
  }
}

TEST(CriticalSectionRefusals, Waiting) {
  run_tasks(2, [] {
    apgas::semaphore permits(5);
    expect_refused("semaphore::acquire", [&] { permits.acquire(); });
    apgas::latch down(0);
    expect_refused("latch::wait", [&] { down.wait(); });
    expect_refused("latch::arrive_and_wait", [&] { down.arrive_and_wait(); });
    apgas::channel<int> values(2);
    values.send(1);
    expect_refused("channel::send", [&] { values.send(2); });
    expect_refused("channel::receive", [&] { static_cast<void>(values.receive()); });
    EXPECT_EQ(values.receive(), 1) << "no value was sent or lost";
    EXPECT_FALSE(values.try_receive());
    apgas::single_var<int> once;
    once.write_ef(1);
    expect_refused("single_var::read_ff", [&] { static_cast<void>(once.read_ff()); });
    apgas::sync_var<int> full(7);
    expect_refused("sync_var::read_fe", [&] { static_cast<void>(full.read_fe()); });
    EXPECT_EQ(full.read_ff(), 7);
  });
}

TEST(CriticalSectionRefusals, Spawning) {
  run_tasks(2, [] {
    expect_refused("finish_reduce",
                   [] { static_cast<void>(apgas::finish_reduce(0, std::plus<>(), [] {})); });
    expect_refused("parallel_reduce", [] {
      static_cast<void>(apgas::parallel_reduce(0, 4, 0, [](int i) { return i; }, std::plus<>()));
    });
    expect_refused("clocked_finish", [] { apgas::clocked_finish([] {}); });
    apgas::clocked_finish(
        [] { expect_refused("clocked_async", [] { apgas::clocked_async([] {}); }); });
  });
}

TEST(CriticalSectionRefusals, Phases) {
  run_tasks(2, [] {
    expect_refused("phaser", [] { const apgas::phaser made; });
    const apgas::phaser ph;
    expect_refused("phaser::next", [&] { ph.next(); });
    expect_refused("phaser::next_single", [&] { ph.next_single([] {}); });
    expect_refused("next", [] { apgas::next(); });
    expect_refused(
        "async", [&] { apgas::async(apgas::phased(ph, apgas::phaser_mode::signal_wait), [] {}); });
    ph.signal();
    expect_refused("phaser::wait", [&] { ph.wait(); });
    ph.wait();
    ph.drop();
  });
}

}  // namespace

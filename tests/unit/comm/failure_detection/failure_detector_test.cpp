// SPDX-License-Identifier: Apache-2.0
// The watch itself, several in one process: real threads and sockets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "failure_detector.hpp"

namespace {

using namespace apgas::comm;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr in_addr loopback{0x0100007f};  // 127.0.0.1 in the order of the network
constexpr detector_token token{std::byte{42}};

std::mutex lock;
std::vector<std::string> printed;
std::atomic<int> ended_with{0};

void print(const std::string& line) {
  const std::lock_guard guard(lock);
  printed.push_back(line);
}
// The thread of a watch that leaves does not come back.
void end(int code) noexcept { ended_with = code; }

bool comes(const std::function<bool()>& what) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!what() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(5ms);
  return what();
}

bool is_printed(const std::string& text) {
  const std::lock_guard guard(lock);
  return std::ranges::any_of(
      printed, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

class Watch : public testing::Test {
 protected:
  Watch() {
    printed.clear();
    ended_with = 0;
  }

  static detector_plan plan_of(rank here, std::chrono::nanoseconds silence) {
    const std::vector<std::string> names{"a", "b"};
    return {detection_tree(names, names), here, token, silence, descriptor(), {}};
  }
  std::unique_ptr<failure_detector> start_zero(std::chrono::nanoseconds silence) {
    detector_plan plan = plan_of(0, silence);
    plan.listeners.push_back(listen_on(loopback, port));
    return std::make_unique<failure_detector>(std::move(plan), end, print);
  }
  descriptor connect_as(rank from) const {
    descriptor made = connect_to(loopback, port, 5s);
    const detector_hello hello{.from = from, .token = token};
    EXPECT_EQ(send(made.number(), &hello, sizeof(hello), MSG_NOSIGNAL), 32);
    return made;
  }
  std::unique_ptr<failure_detector> start_one(std::chrono::nanoseconds silence) {
    detector_plan plan = plan_of(1, silence);
    plan.up = connect_as(1);
    return std::make_unique<failure_detector>(std::move(plan), end, print);
  }

  std::uint16_t port = 0;
};

TEST_F(Watch, EndsWithByeAndNobodySpeaks) {
  auto zero = start_zero(10s);
  auto one = start_one(10s);
  one.reset();
  zero.reset();
  EXPECT_TRUE(printed.empty());
  EXPECT_EQ(ended_with, 0);
}

TEST_F(Watch, WhoIsDoneWaitsForTheOthers) {
  const auto zero = start_zero(10s);
  const auto one = start_one(10s);
  std::atomic<bool> is_over{false};
  std::thread waits([&] {
    one->wait_for_all();
    is_over = true;
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(is_over);
  zero->wait_for_all();
  waits.join();
  EXPECT_TRUE(printed.empty());
  EXPECT_EQ(ended_with, 0);
}

TEST_F(Watch, AnEndOfTheConnectionIsSaid) {
  const auto zero = start_zero(10s);
  {
    const descriptor one = connect_as(1);
  }
  EXPECT_TRUE(comes([] { return is_printed("place 1 on b is gone: it ended without a word"); }));
  EXPECT_TRUE(zero->finds_the_end(5s));
  EXPECT_TRUE(comes([] { return ended_with == 1; }));
}

TEST_F(Watch, SilenceIsSaid) {
  const auto zero = start_zero(500ms);
  const descriptor one = connect_as(1);
  EXPECT_TRUE(comes([] {
    return is_printed("place 1 on b is gone: no sign of life for 0.5 s (its link or the machine");
  }));
  EXPECT_TRUE(comes([] { return ended_with == 1; }));
}

TEST_F(Watch, WhoSpeaksItselfIsNotSpokenAbout) {
  const auto zero = start_zero(10s);
  auto one = start_one(10s);
  one->reported(139);
  EXPECT_TRUE(comes([&] { return zero->others_reported(); }));
  EXPECT_TRUE(comes([] { return ended_with == 139; }));
  EXPECT_TRUE(printed.empty());
}

// Garbage at the port of a job that runs, from before its places have come until after.
TEST_F(Watch, StrangersDoNotDisturb) {
  const auto zero = start_zero(1s);
  for (int i = 0; i < 200; ++i) {
    const descriptor unauthenticated_peer = connect_to(loopback, port, 5s);
    const std::string garbage(static_cast<std::size_t>(i), static_cast<char>(i));
    send(unauthenticated_peer.number(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  const auto one = start_one(1s);
  EXPECT_FALSE(zero->finds_the_end(3s));
  EXPECT_FALSE(one->finds_the_end(0ms));
  EXPECT_THROW(connect_to(loopback, port, 1s), std::system_error);  // all are in: it is closed
  EXPECT_EQ(ended_with, 0);
  EXPECT_TRUE(is_printed("warning: closed a connection from 127.0.0.1"));
  EXPECT_FALSE(is_printed("gone"));
}

// A record that none of ours sends is no sign of a failure.
TEST_F(Watch, NonsenseAfterTheHelloIsIgnored) {
  const auto zero = start_zero(2s);
  const descriptor one = connect_as(1);
  const detector_message nonsense{.what = static_cast<detector_message::kind>(12345), .about = -9};
  EXPECT_TRUE(send_record(one.number(), nonsense));
  EXPECT_TRUE(send_record(one.number(), {.what = detector_message::kind::gone, .about = 77}));
  EXPECT_FALSE(zero->finds_the_end(1s));
}

}  // namespace

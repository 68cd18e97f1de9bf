// SPDX-License-Identifier: Apache-2.0
// Failure detectors with real threads and sockets, several in one process.
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

constexpr in_addr loopback{0x0100007f};  // 127.0.0.1 in network byte order
constexpr detector_token token{std::byte{42}};

std::mutex lock;
std::vector<std::string> printed;
std::atomic<int> ended_with{0};

void print(const std::string& line) {
  const std::lock_guard guard(lock);
  printed.push_back(line);
}
// The function that detectors call to end the job. It returns, so their thread continues.
void end(int code) noexcept { ended_with = code; }

bool eventually(const std::function<bool()>& what) {
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  while (!what() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(5ms);
  return what();
}

bool is_printed(const std::string& text) {
  const std::lock_guard guard(lock);
  return std::ranges::any_of(
      printed, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

class FailureDetector : public testing::Test {
 protected:
  FailureDetector() {
    printed.clear();
    ended_with = 0;
  }

  static detector_plan plan_of(rank here, std::chrono::nanoseconds timeout) {
    const std::vector<std::string> names{"a", "b"};
    return {detection_tree(names, names), here, token, timeout, descriptor(), {}};
  }
  std::unique_ptr<failure_detector> start_zero(std::chrono::nanoseconds timeout) {
    detector_plan plan = plan_of(0, timeout);
    plan.listeners.push_back(listen_on(loopback, port));
    return std::make_unique<failure_detector>(std::move(plan), end, print);
  }
  descriptor connect_as(rank from) const {
    descriptor made = connect_to(loopback, port, 5s);
    const detector_hello hello{.from = from, .token = token};
    EXPECT_EQ(send(made.number(), &hello, sizeof(hello), MSG_NOSIGNAL), 32);
    return made;
  }
  std::unique_ptr<failure_detector> start_one(std::chrono::nanoseconds timeout) {
    detector_plan plan = plan_of(1, timeout);
    plan.parent = connect_as(1);
    return std::make_unique<failure_detector>(std::move(plan), end, print);
  }

  std::uint16_t port = 0;
};

TEST_F(FailureDetector, EndsWithAGoodbyeAndPrintsNothing) {
  auto zero = start_zero(10s);
  auto one = start_one(10s);
  one.reset();
  zero.reset();
  EXPECT_TRUE(printed.empty());
  EXPECT_EQ(ended_with, 0);
}

TEST_F(FailureDetector, WaitsUntilAllPlacesAreDone) {
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

TEST_F(FailureDetector, ReportsTheEndOfAConnection) {
  const auto zero = start_zero(10s);
  {
    const descriptor one = connect_as(1);
  }
  EXPECT_TRUE(eventually([] { return is_printed("place 1 on b ended unexpectedly"); }));
  EXPECT_TRUE(zero->failure_found_within(5s));
  EXPECT_TRUE(eventually([] { return ended_with == 1; }));
}

TEST_F(FailureDetector, ReportsAMissingHeartbeat) {
  const auto zero = start_zero(500ms);
  const descriptor one = connect_as(1);
  EXPECT_TRUE(eventually([] {
    return is_printed("place 1 on b has sent no heartbeat for 0.5 s (host or network link down");
  }));
  EXPECT_TRUE(eventually([] { return ended_with == 1; }));
}

TEST_F(FailureDetector, DoesNotReportAPlaceThatReportedItself) {
  const auto zero = start_zero(10s);
  auto one = start_one(10s);
  one->reported(139);
  EXPECT_TRUE(eventually([&] { return zero->others_reported(); }));
  EXPECT_TRUE(eventually([] { return ended_with == 139; }));
  EXPECT_TRUE(printed.empty());
}

// Peers send garbage to the port of a running job from before its places connect until after.
TEST_F(FailureDetector, IgnoresUnauthenticatedPeers) {
  const auto zero = start_zero(1s);
  for (int i = 0; i < 200; ++i) {
    const descriptor unauthenticated_peer = connect_to(loopback, port, 5s);
    const std::string garbage(static_cast<std::size_t>(i), static_cast<char>(i));
    send(unauthenticated_peer.number(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  const auto one = start_one(1s);
  EXPECT_FALSE(zero->failure_found_within(3s));
  EXPECT_FALSE(one->failure_found_within(0ms));
  EXPECT_THROW(connect_to(loopback, port, 1s), std::system_error);  // all are connected
  EXPECT_EQ(ended_with, 0);
  EXPECT_TRUE(is_printed("warning: closed a connection from 127.0.0.1"));
  EXPECT_FALSE(is_printed("ends the job"));
}

// An invalid message is not a sign of a failure.
TEST_F(FailureDetector, IgnoresInvalidMessagesAfterTheHello) {
  const auto zero = start_zero(2s);
  const descriptor one = connect_as(1);
  const detector_message nonsense{.what = static_cast<detector_message::kind>(12345), .about = -9};
  EXPECT_TRUE(send_record(one.number(), nonsense));
  EXPECT_TRUE(send_record(one.number(), {.what = detector_message::kind::failure, .about = 77}));
  EXPECT_FALSE(zero->failure_found_within(1s));
}

}  // namespace

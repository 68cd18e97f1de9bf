// SPDX-License-Identifier: Apache-2.0
// Who is let in by the watch, over real sockets of this machine: no stranger, and none disturbs.
#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <apgas/errors.hpp>

#include "detector_address.hpp"
#include "acceptor.hpp"

namespace {

using namespace apgas::comm;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr in_addr loopback{0x0100007f};  // 127.0.0.1 in the order of the network
constexpr detector_token token{std::byte{1}, std::byte{2}, std::byte{3}};

class Door : public testing::Test {
 protected:
  Door() { door.open(listen_on(loopback, port)); }

  descriptor connect() { return connect_to(loopback, port, 5s); }
  descriptor connect_and_say(const std::string& bytes) {
    descriptor made = connect();
    say(made, bytes);
    return made;
  }
  static void say(const descriptor& to, const std::string& bytes) {
    EXPECT_EQ(send(to.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::string bytes_of(const detector_hello& hello) {
    return {reinterpret_cast<const char*>(&hello), sizeof(hello)};
  }
  static std::string hello_of(rank from) { return bytes_of({.from = from, .token = token}); }

  // Until something came and was looked at.
  void look(acceptor::time now = 1s) {
    std::vector<pollfd> waited;
    door.add_to(waited);
    ASSERT_GT(poll(waited.data(), waited.size(), 5000), 0);
    door.look(waited.data(), now);
  }
  // The other end has closed it.
  static bool closed(const descriptor& connection) {
    pollfd wait{connection.number(), POLLIN, 0};
    char byte = 0;
    return poll(&wait, 1, 5000) == 1 && recv(connection.number(), &byte, 1, 0) <= 0;
  }

  std::map<rank, descriptor> admitted;
  std::vector<std::string> reports;
  std::uint16_t port = 0;
  acceptor door{
      token,
      {1, 2},
      [this](rank from, descriptor c) { admitted.insert_or_assign(from, std::move(c)); },
      [this](const std::string& line) { reports.push_back(line); }};
};

TEST_F(Door, LetsInWhoIsExpectedAndClosesThen) {
  const descriptor first = connect_and_say(hello_of(2));
  look();
  EXPECT_EQ(admitted.count(2), 1u);
  EXPECT_TRUE(door.is_open());
  const descriptor second = connect_and_say(hello_of(1));
  look();
  EXPECT_EQ(admitted.size(), 2u);
  EXPECT_FALSE(door.is_open());
  EXPECT_THROW(connect(), std::system_error);  // nobody listens any more
  EXPECT_TRUE(reports.empty());
}

TEST_F(Door, AHelloMayComeInPieces) {
  const std::string hello = hello_of(1);
  const descriptor slow = connect_and_say(hello.substr(0, 5));
  look();
  EXPECT_EQ(door.pending(), 1u);
  say(slow, hello.substr(5));
  look();
  EXPECT_EQ(admitted.count(1), 1u);
  EXPECT_EQ(door.pending(), 0u);
}

TEST_F(Door, WhatFollowsTheHelloIsLeftToTheNext) {
  const descriptor first = connect_and_say(hello_of(1) + "more");
  look();
  char bytes[8];
  EXPECT_EQ(recv(admitted.at(1).number(), bytes, sizeof(bytes), 0), 4);
}

TEST_F(Door, TurnsAwayAWrongToken) {
  detector_hello wrong{.from = 1, .token = token};
  wrong.token[15] = std::byte{9};
  const descriptor unauthenticated_peer = connect_and_say(bytes_of(wrong));
  look();
  EXPECT_TRUE(closed(unauthenticated_peer));
  EXPECT_TRUE(admitted.empty());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0], HasSubstr("127.0.0.1, which is of another job; the job goes on"));
}

TEST_F(Door, TurnsAwayGarbageAndOtherProtocols) {
  for (const std::string& said :
       {std::string(4096, '\xff'), std::string("GET / HTTP/1.1\r\nHost: places.example\r\n\r\n")}) {
    const descriptor unauthenticated_peer = connect_and_say(said);
    look();
    EXPECT_TRUE(closed(unauthenticated_peer));
  }
  EXPECT_TRUE(admitted.empty());
  ASSERT_EQ(reports.size(), 1u);  // one line for both: the second comes too soon
  EXPECT_THAT(reports[0], HasSubstr("does not speak the language of places"));
}

TEST_F(Door, TurnsAwayRanksThatAreNotExpectedOrAreThere) {
  const descriptor first = connect_and_say(hello_of(1));
  look();
  for (const rank other : {1, 7, -1}) {
    const descriptor unauthenticated_peer = connect_and_say(hello_of(other));
    look();
    EXPECT_TRUE(closed(unauthenticated_peer));
  }
  EXPECT_EQ(admitted.size(), 1u);
  EXPECT_TRUE(door.is_open());
}

TEST_F(Door, TurnsAwayWhoSaysNothingOrHalfAHelloInTime) {
  const descriptor silent = connect();
  const descriptor half = connect_and_say(hello_of(1).substr(0, 20));
  while (door.pending() < 2) look(1s);
  door.tick(5s);
  EXPECT_EQ(door.pending(), 2u);
  door.tick(1s + acceptor::patience);
  EXPECT_EQ(door.pending(), 0u);
  EXPECT_TRUE(closed(silent));
  EXPECT_TRUE(closed(half));
}

TEST_F(Door, TooManyStrangersDoNotKeepOthersOut) {
  std::vector<descriptor> strangers;
  for (std::size_t i = 0; i < 3 * acceptor::most_pending; ++i) strangers.push_back(connect());
  const descriptor expected = connect_and_say(hello_of(1));
  while (admitted.empty()) {
    look();
    EXPECT_LE(door.pending(), acceptor::most_pending);
  }
  EXPECT_TRUE(closed(strangers.front()));
}

TEST_F(Door, ReportsAreFewAndCountTheOthers) {
  for (int i = 0; i < 20; ++i) {
    const descriptor unauthenticated_peer = connect_and_say("not a place, but long enough for a hello");
    look();
  }
  EXPECT_EQ(reports.size(), 1u);
  const descriptor unauthenticated_peer = connect_and_say("not a place, but long enough for a hello");
  look(1s + acceptor::between_reports);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_THAT(reports[1], HasSubstr("and 19 more before"));
}

TEST_F(Door, OfThisMachine) {
  const std::string name = local_name(token, 0);
  door.open(listen_locally(name));
  const descriptor first = connect_locally(name);
  EXPECT_TRUE(may_report(first));
  say(first, hello_of(1));
  look();
  EXPECT_EQ(admitted.count(1), 1u);
  EXPECT_THAT(name_of_peer(first), HasSubstr("of user"));
  EXPECT_NE(local_name(token, 0), local_name(token, 1));
  EXPECT_NE(local_name(token, 0), local_name({}, 0));
}

std::string refusal(const std::string& wanted) {
  try {
    address_of_job(wanted);
  } catch (const apgas::launch_error& refused) {
    return refused.what();
  }
  return "found";
}

TEST(Address, ByInterfaceAddressAndNetwork) {
  for (const std::string wanted : {"lo", "127.0.0.1", "127.0.0.0/8"}) {
    EXPECT_EQ(address_of_job(wanted).s_addr, loopback.s_addr) << wanted;
  }
}

TEST(Address, RefusalsNameTheSettingAndWhatThereIs) {
  for (const std::string wanted : {"nothing0", "203.0.113.0/24", "203.0.113.1", "10.0.0.0/33"}) {
    EXPECT_THAT(refusal(wanted), HasSubstr("APGAS_INTERFACE=" + wanted));
    EXPECT_THAT(refusal(wanted), HasSubstr("lo 127.0.0.1"));
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The acceptor of the failure detector, over real sockets of this host: it admits the places of the
// job, and unauthenticated peers neither get in nor disturb it.
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

#include "acceptor.hpp"
#include "detector_address.hpp"

namespace {

using namespace apgas::comm;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr in_addr loopback{0x0100007f};  // 127.0.0.1 in network byte order
constexpr detector_token token{std::byte{1}, std::byte{2}, std::byte{3}};

class Acceptor : public testing::Test {
 protected:
  Acceptor() { tested.open(listen_on(loopback, port)); }

  descriptor connect() { return connect_to(loopback, port, 5s); }
  descriptor connect_and_send(const std::string& bytes) {
    descriptor made = connect();
    send_bytes(made, bytes);
    return made;
  }
  static void send_bytes(const descriptor& to, const std::string& bytes) {
    EXPECT_EQ(send(to.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::string bytes_of(const detector_hello& hello) {
    return {reinterpret_cast<const char*>(&hello), sizeof(hello)};
  }
  static std::string hello_of(rank from) { return bytes_of({.from = from, .token = token}); }

  // Waits until there are events, and handles them.
  void look(acceptor::time now = 1s) {
    std::vector<pollfd> waited;
    tested.add_to(waited);
    ASSERT_GT(poll(waited.data(), waited.size(), 5000), 0);
    tested.look(waited.data(), now);
  }
  // Whether the other end has closed the connection.
  static bool closed(const descriptor& connection) {
    pollfd wait{connection.number(), POLLIN, 0};
    char byte = 0;
    return poll(&wait, 1, 5000) == 1 && recv(connection.number(), &byte, 1, 0) <= 0;
  }

  std::map<rank, descriptor> admitted;
  std::vector<std::string> reports;
  std::uint16_t port = 0;
  acceptor tested{
      token,
      {1, 2},
      [this](rank from, descriptor c) { admitted.insert_or_assign(from, std::move(c)); },
      [this](const std::string& line) { reports.push_back(line); }};
};

TEST_F(Acceptor, AdmitsExpectedPlacesAndThenStopsListening) {
  const descriptor first = connect_and_send(hello_of(2));
  look();
  EXPECT_EQ(admitted.count(2), 1u);
  EXPECT_TRUE(tested.is_open());
  const descriptor second = connect_and_send(hello_of(1));
  look();
  EXPECT_EQ(admitted.size(), 2u);
  EXPECT_FALSE(tested.is_open());
  EXPECT_THROW(connect(), std::system_error);  // the listener is closed
  EXPECT_TRUE(reports.empty());
}

TEST_F(Acceptor, AcceptsAHelloInSeveralPieces) {
  const std::string hello = hello_of(1);
  const descriptor slow = connect_and_send(hello.substr(0, 5));
  look();
  EXPECT_EQ(tested.pending(), 1u);
  send_bytes(slow, hello.substr(5));
  look();
  EXPECT_EQ(admitted.count(1), 1u);
  EXPECT_EQ(tested.pending(), 0u);
}

TEST_F(Acceptor, LeavesBytesAfterTheHelloUnread) {
  const descriptor first = connect_and_send(hello_of(1) + "more");
  look();
  char bytes[8];
  EXPECT_EQ(recv(admitted.at(1).number(), bytes, sizeof(bytes), 0), 4);
}

TEST_F(Acceptor, RejectsAWrongToken) {
  detector_hello wrong{.from = 1, .token = token};
  wrong.token[15] = std::byte{9};
  const descriptor unauthenticated_peer = connect_and_send(bytes_of(wrong));
  look();
  EXPECT_TRUE(closed(unauthenticated_peer));
  EXPECT_TRUE(admitted.empty());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0],
              HasSubstr("127.0.0.1, which has the token of another job; the job continues"));
}

TEST_F(Acceptor, RejectsGarbageAndOtherProtocols) {
  for (const std::string& sent :
       {std::string(4096, '\xff'), std::string("GET / HTTP/1.1\r\nHost: places.example\r\n\r\n")}) {
    const descriptor unauthenticated_peer = connect_and_send(sent);
    look();
    EXPECT_TRUE(closed(unauthenticated_peer));
  }
  EXPECT_TRUE(admitted.empty());
  ASSERT_EQ(reports.size(), 1u);  // one line for both: the second report comes too soon
  EXPECT_THAT(reports[0], HasSubstr("did not send the hello of a place"));
}

TEST_F(Acceptor, RejectsUnexpectedAndDuplicateRanks) {
  const descriptor first = connect_and_send(hello_of(1));
  look();
  for (const rank other : {1, 7, -1}) {
    const descriptor unauthenticated_peer = connect_and_send(hello_of(other));
    look();
    EXPECT_TRUE(closed(unauthenticated_peer));
  }
  EXPECT_EQ(admitted.size(), 1u);
  EXPECT_TRUE(tested.is_open());
}

TEST_F(Acceptor, RejectsPeersWithoutACompleteHelloInTime) {
  const descriptor silent = connect();
  const descriptor half = connect_and_send(hello_of(1).substr(0, 20));
  while (tested.pending() < 2) look(1s);
  tested.tick(5s);
  EXPECT_EQ(tested.pending(), 2u);
  tested.tick(1s + acceptor::hello_timeout);
  EXPECT_EQ(tested.pending(), 0u);
  EXPECT_TRUE(closed(silent));
  EXPECT_TRUE(closed(half));
}

TEST_F(Acceptor, AdmitsPlacesDespiteManyUnauthenticatedPeers) {
  std::vector<descriptor> peers;
  for (std::size_t i = 0; i < 3 * acceptor::max_pending; ++i) peers.push_back(connect());
  const descriptor expected = connect_and_send(hello_of(1));
  while (admitted.empty()) {
    look();
    EXPECT_LE(tested.pending(), acceptor::max_pending);
  }
  EXPECT_TRUE(closed(peers.front()));
}

TEST_F(Acceptor, LimitsItsReportsAndCountsTheOthers) {
  for (int i = 0; i < 20; ++i) {
    const descriptor unauthenticated_peer =
        connect_and_send("not a place, but long enough for a hello");
    look();
  }
  EXPECT_EQ(reports.size(), 1u);
  const descriptor unauthenticated_peer =
      connect_and_send("not a place, but long enough for a hello");
  look(1s + acceptor::report_interval);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_THAT(reports[1], HasSubstr("and 19 earlier ones"));
}

TEST_F(Acceptor, AdmitsAPlaceOfTheSameHost) {
  const std::string name = local_name(token, 0);
  tested.open(apgas::base::listen_locally(name, detector_backlog));
  const descriptor first = apgas::base::connect_locally(name);
  EXPECT_TRUE(is_allowed_peer(first));
  send_bytes(first, hello_of(1));
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

TEST(Address, IsFoundByInterfaceAddressAndNetwork) {
  for (const std::string wanted : {"lo", "127.0.0.1", "127.0.0.0/8"}) {
    EXPECT_EQ(address_of_job(wanted).s_addr, loopback.s_addr) << wanted;
  }
}

TEST(Address, RefusalNamesTheSettingAndTheInterfaces) {
  for (const std::string wanted : {"nothing0", "203.0.113.0/24", "203.0.113.1", "10.0.0.0/33"}) {
    EXPECT_THAT(refusal(wanted), HasSubstr("APGAS_INTERFACE=" + wanted));
    EXPECT_THAT(refusal(wanted), HasSubstr("lo 127.0.0.1"));
  }
}

}  // namespace

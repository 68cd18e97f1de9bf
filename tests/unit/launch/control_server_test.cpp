// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/apgas.hpp>
#include <apgas/base/local_socket.hpp>
#include <apgas/base/own_threads.hpp>

#include "control_server.hpp"
#include "job_name.hpp"

// The control socket of a process, as a tool sees it.
namespace apgas::launch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string request_bytes(const std::string& text) {
  std::string bytes(control_magic);
  for (const auto number : {std::size_t{control_version}, text.size()}) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xffU);
  }
  return bytes + text;
}

void send_all(const base::descriptor& to, const std::string& bytes) {
  ASSERT_EQ(send(to.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// Reads until the other end closes the connection.
std::string read_all(const base::descriptor& from) {
  std::string all;
  for (;;) {
    pollfd waited{.fd = from.number(), .events = POLLIN, .revents = 0};
    poll(&waited, 1, -1);
    char part[4096];
    const ssize_t bytes = recv(from.number(), part, sizeof part, 0);
    if (bytes <= 0) return all;
    all.append(part, static_cast<std::size_t>(bytes));
  }
}

class ControlServer : public testing::Test {
 protected:
  static process_facts facts() {
    process_facts made = facts_of_process(1, false);
    made.job = "control-test-" + made.job;  // beside the socket of a run
    return made;
  }
  base::descriptor connect() const {
    return base::connect_locally(control_address(geteuid(), facts().job, 0, getpid()));
  }
  std::string answer_to(const std::string& request) const {
    const base::descriptor connection = connect();
    send_all(connection, request_bytes(request));
    return read_all(connection);
  }

  control_server server_{facts(), 0};
};

TEST_F(ControlServer, AnswersForAProcessWithoutPlaces) {
  EXPECT_THAT(answer_to("summary"), HasSubstr(R"("places":[])"));
  EXPECT_THAT(answer_to("summary"), HasSubstr(R"("job":"control-test-)"));
  EXPECT_THAT(answer_to("activity"), HasSubstr(R"("places":[])"));
}

TEST_F(ControlServer, RepeatsARequestThatItDoesNotKnow) {
  EXPECT_EQ(answer_to("dance"), control_reply(control_status::unknown_request, "dance"));
}

TEST_F(ControlServer, CannotAskAllPlacesWithoutPlaceZero) {
  EXPECT_EQ(answer_to("activity of all places"), control_reply(control_status::not_now, ""));
}

TEST_F(ControlServer, TellsItsVersionToToolsOfAnotherOne) {
  const base::descriptor connection = connect();
  std::string bytes = request_bytes("report");
  bytes[control_magic.size()] = 99;
  send_all(connection, bytes);
  EXPECT_EQ(read_all(connection), control_reply(control_status::other_version, ""));
}

TEST_F(ControlServer, ClosesTheConnectionOfAnotherProtocol) {
  const base::descriptor connection = connect();
  send_all(connection, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(read_all(connection), "");
}

TEST_F(ControlServer, AnswersOthersWhileConnectionsAreSilentOrHalf) {
  std::vector<base::descriptor> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(connect());
    if (i % 2 == 0) send_all(silent.back(), request_bytes("report").substr(0, 9));
    EXPECT_THAT(answer_to("summary"), StartsWith(control_magic));
  }
  EXPECT_EQ(read_all(silent[0]), "") << "further connections displace the oldest";
  EXPECT_EQ(read_all(silent.back()), "") << "it has two seconds for its request";
}

TEST_F(ControlServer, IsAThreadOfTheLibrary) {
  answer_to("summary");  // the thread has begun
  const int before = base::foreign_threads();
  std::thread other([&] { EXPECT_EQ(base::foreign_threads(), before + 1); });
  other.join();
}

TEST_F(ControlServer, ASecondOneCannotHaveTheSameAddress) {
  EXPECT_THROW(control_server(facts(), 0), std::system_error);
}

// Needs root, so that a process can become another user.
TEST_F(ControlServer, ClosesTheConnectionsOfOtherUsers) {
  if (geteuid() != 0) return;
  const std::string name = control_address(0, facts().job, 0, getpid());
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(2);
    const base::descriptor connection = base::connect_locally(name);
    const std::string bytes = request_bytes("summary");
    static_cast<void>(send(connection.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    _exit(read_all(connection).empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// A deadlock could not be told from a wait for the threads of the program otherwise. Threads of the
// library may still be starting when the main task runs.
TEST(ControlOfARun, IsNoThreadOfTheProgram) {
  const int before = base::foreign_threads();  // with this thread, which a run counts as its own
  char name[] = "test";
  char* arguments[] = {name, nullptr};
  apgas::run(1, arguments, [&] {
    while (base::foreign_threads() >= before) apgas::yield();
  });
}

}  // namespace
}  // namespace apgas::launch

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "detector_sockets.hpp"

namespace apgas::inline v0::comm {

namespace {

[[noreturn]] void refused(int error, const char* call) {
  throw std::system_error(error, std::system_category(), call);
}

descriptor make_socket() {
  descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) refused(errno, "socket");
  return made;
}

sockaddr_in network_address(in_addr address, std::uint16_t port) {
  sockaddr_in all{};
  all.sin_family = AF_INET;
  all.sin_addr = address;
  all.sin_port = htons(port);
  return all;
}

void connect_within(const descriptor& made, const sockaddr* to, socklen_t bytes,
                    std::chrono::milliseconds patience) {
  if (connect(made.number(), to, bytes) == 0) return;
  if (errno != EINPROGRESS) refused(errno, "connect");
  pollfd wait{made.number(), POLLOUT, 0};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    const int ready = poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready == 0) refused(ETIMEDOUT, "connect");
    if (ready > 0) break;
    if (errno != EINTR) refused(errno, "poll");
  }
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(made.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) refused(error, "connect");
}

void send_at_once(const descriptor& connection) {
  const int on = 1;
  setsockopt(connection.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

// Uses a hash of the token (FNV-1a), because all users of the host can see the names of sockets.
std::string local_name(const detector_token& token, rank leader) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte b : token) {
    hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3;
  }
  return fmt::format("apgas-{:016x}-{}", hash, leader);
}

descriptor listen_on(in_addr address, std::uint16_t& port) {
  descriptor made = make_socket();
  sockaddr_in all = network_address(address, 0);
  socklen_t bytes = sizeof(all);
  auto* const where = reinterpret_cast<sockaddr*>(&all);
  if (bind(made.number(), where, bytes) != 0) refused(errno, "bind");
  if (listen(made.number(), detector_backlog) != 0) refused(errno, "listen");
  if (getsockname(made.number(), where, &bytes) != 0) refused(errno, "getsockname");
  port = ntohs(all.sin_port);
  return made;
}

descriptor connect_to(in_addr address, std::uint16_t port, std::chrono::milliseconds patience) {
  descriptor made = make_socket();
  const sockaddr_in all = network_address(address, port);
  connect_within(made, reinterpret_cast<const sockaddr*>(&all), sizeof(all), patience);
  send_at_once(made);
  return made;
}

descriptor accept_one(const descriptor& listener) noexcept {
  descriptor made(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (made) send_at_once(made);
  return made;
}

std::string name_of_peer(const descriptor& connection) {
  sockaddr_storage all{};
  socklen_t bytes = sizeof(all);
  getpeername(connection.number(), reinterpret_cast<sockaddr*>(&all), &bytes);
  if (all.ss_family == AF_INET) {
    char text[INET_ADDRSTRLEN] = "?";
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(all).sin_addr, text, sizeof(text));
    return text;
  }
  const base::local_peer peer = base::local_peer_of(connection);
  return fmt::format("process {} of user {}", peer.process, peer.user);
}

bool is_allowed_peer(const descriptor& connection) noexcept {
  int family = 0;
  socklen_t size = sizeof(family);
  getsockopt(connection.number(), SOL_SOCKET, SO_DOMAIN, &family, &size);
  if (family != AF_UNIX) return true;
  return base::local_peer_of(connection).user == geteuid();
}

bool send_record(int to, const detector_message& record) noexcept {
  const auto sent = send(to, &record, sizeof(record), MSG_NOSIGNAL | MSG_DONTWAIT);
  return std::cmp_equal(sent, sizeof(record));
}

}  // namespace apgas::inline v0::comm

// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/local_socket.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <sys/socket.h>
#include <sys/un.h>

namespace apgas::inline v0::base {
namespace {

[[noreturn]] void local_call_failed(const char* call) {
  throw std::system_error(errno, std::system_category(), call);
}

descriptor make_local_socket() {
  descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) local_call_failed("socket");
  return made;
}

// An address in the abstract namespace.
struct local_address {
  explicit local_address(const std::string& name) {
    all.sun_family = AF_UNIX;
    const std::size_t n = std::min(name.size(), sizeof(all.sun_path) - 1);
    std::memcpy(all.sun_path + 1, name.data(), n);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + n);
  }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&all); }

  sockaddr_un all{};
  socklen_t bytes;
};

}  // namespace

descriptor listen_locally(const std::string& name, int backlog) {
  descriptor made = make_local_socket();
  const local_address address(name);
  if (bind(made.number(), address.get(), address.bytes) != 0) local_call_failed("bind");
  if (listen(made.number(), backlog) != 0) local_call_failed("listen");
  return made;
}

descriptor connect_locally(const std::string& name) {
  descriptor made = make_local_socket();
  const local_address address(name);
  if (connect(made.number(), address.get(), address.bytes) != 0) local_call_failed("connect");
  return made;
}

local_peer local_peer_of(const descriptor& connection) noexcept {
  ucred found{};
  socklen_t size = sizeof(found);
  if (getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return {};
  return {.process = found.pid, .user = found.uid};
}

}  // namespace apgas::inline v0::base

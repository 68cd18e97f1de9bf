// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <netdb.h>

#include <apgas/errors.hpp>

#include "socket.hpp"

namespace apgas::inline v0::launch {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw launch_error(fmt::format(
      "APGAS_METRICS={}: place 0 cannot listen there ({}); choose another port, or an address of "
      "this host and a port, such as 0.0.0.0:9100",
      where, why));
}

}  // namespace

base::descriptor listen_at(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  std::string address = colon == std::string::npos ? "127.0.0.1" : where.substr(0, colon);
  const std::string port = colon == std::string::npos ? where : where.substr(colon + 1);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = getaddrinfo(address.c_str(), port.c_str(), &hints, &found); failed != 0) {
    refuse(where, gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  base::descriptor made(
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const int on = 1;
  if (made.number() < 0 ||
      setsockopt(made.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(made.number(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(made.number(), 16) != 0) {
    refuse(where, std::system_category().message(errno));
  }
  return made;
}

}  // namespace apgas::inline v0::launch

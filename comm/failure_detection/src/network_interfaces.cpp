// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network_interfaces.hpp"

namespace apgas::inline v0::comm {

std::vector<network_interface> interfaces_with_ipv4() {
  std::vector<network_interface> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    const unsigned flags = each->ifa_flags;
    const std::string bridge = fmt::format("/sys/class/net/{}/bridge", each->ifa_name);
    found.push_back(
        {.name = each->ifa_name,
         .address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr,
         .loopback = (flags & IFF_LOOPBACK) != 0,
         .up = (flags & IFF_UP) != 0,
         .running = (flags & IFF_RUNNING) != 0,
         .transient = (flags & IFF_POINTOPOINT) != 0 || access(bridge.c_str(), F_OK) == 0});
  }
  return found;
}

}  // namespace apgas::inline v0::comm

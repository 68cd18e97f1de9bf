// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <apgas/base/parse.hpp>
#include <apgas/errors.hpp>

#include "detector_address.hpp"
#include "network_interfaces.hpp"

namespace apgas::inline v0::comm {

namespace {

std::string address_text(in_addr address) {
  char text[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &address, text, sizeof(text)) ? text : "?";
}

// Whether the address is in the network `wanted` (10.0.0.0/24), or equal to it (10.0.0.7).
bool fits(in_addr address, std::string_view wanted) {
  const auto slash = wanted.find('/');
  in_addr network{};
  if (inet_pton(AF_INET, std::string(wanted.substr(0, slash)).c_str(), &network) != 1) return false;
  long bits = 32;
  if (slash != std::string_view::npos) {
    const auto parsed = base::parse_integer(wanted.substr(slash + 1), 0, 32);
    if (!parsed) return false;
    bits = *parsed;
  }
  const std::uint32_t mask = bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits);
  return ((ntohl(address.s_addr) ^ ntohl(network.s_addr)) & mask) == 0;
}

std::vector<in_addr> addresses_of_own_name() {
  std::vector<in_addr> found;
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return found;
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  if (getaddrinfo(name, nullptr, &hints, &all) != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(all, freeaddrinfo);
  for (const addrinfo* each = all; each != nullptr; each = each->ai_next) {
    found.push_back(reinterpret_cast<const sockaddr_in*>(each->ai_addr)->sin_addr);
  }
  return found;
}

std::optional<in_addr> chosen_of(const std::vector<network_interface>& all) {
  for (const in_addr own : addresses_of_own_name()) {
    const bool here = std::ranges::any_of(all, [own](const network_interface& each) {
      return !each.loopback && each.address.s_addr == own.s_addr;
    });
    if (here) return own;
  }
  const auto first = std::ranges::find(all, false, &network_interface::loopback);
  if (first == all.end()) return std::nullopt;
  return first->address;
}

}  // namespace

in_addr address_of_job(const std::string& wanted) {
  std::vector<network_interface> all = interfaces_with_ipv4();
  std::erase_if(all, [](const network_interface& each) { return !each.up; });
  std::string list;
  for (const network_interface& each : all) {
    if (each.name == wanted || fits(each.address, wanted)) return each.address;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", each.name, address_text(each.address));
  }
  if (!wanted.empty()) {
    throw launch_error(fmt::format(
        "APGAS_INTERFACE={}: the host of place 0 has no such interface, address or network; it has "
        "{}",
        wanted, list.empty() ? "none" : list));
  }
  if (const auto found = chosen_of(all)) return *found;
  throw launch_error(
      "the host of place 0 has no network interface through which other hosts can reach it; set "
      "APGAS_INTERFACE to one that is up");
}

}  // namespace apgas::inline v0::comm

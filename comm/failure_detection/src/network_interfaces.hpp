// SPDX-License-Identifier: Apache-2.0
#pragma once

// The network interfaces of this host.

#include <string>
#include <vector>

#include <netinet/in.h>

namespace apgas::inline v0::comm {

struct network_interface {
  std::string name;
  in_addr address{};
  bool loopback = false;
  bool up = false;
  bool running = false;    // up, and connected to something
  bool transient = false;  // may end while a job runs: a bridge of a container engine, or a tunnel
};

// Those that have an IPv4 address; none if the system does not tell.
std::vector<network_interface> interfaces_with_ipv4();

}  // namespace apgas::inline v0::comm

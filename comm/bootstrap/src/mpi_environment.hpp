// SPDX-License-Identifier: Apache-2.0
#pragma once

// What Open MPI and UCX must know before they start, as environment variables.

#include <string>
#include <vector>

#include "network_interfaces.hpp"

namespace apgas::inline v0::comm {

// How Open MPI connects places of which one is in namespaces of its own.
struct tcp_interfaces {
  std::string use;    // btl_tcp_if_include; empty: all but those to avoid
  std::string avoid;  // btl_tcp_if_exclude
};

// Chooses among the interfaces of this host that have an IPv4 address. Open MPI uses each interface
// that both places have, and waits for ever for the connection through one that is down or ends
// after MPI_Init. So places of one host, which reach each other through any of them, use only the
// first one that remains.
tcp_interfaces choose_tcp_interfaces(const std::vector<network_interface>& all, bool one_host);

// Sets the variables, unless the user has.
// Context: before MPI_Init, with no other thread.
void prepare_mpi_environment();

}  // namespace apgas::inline v0::comm

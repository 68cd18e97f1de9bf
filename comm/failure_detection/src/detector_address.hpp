// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address of this host at which place 0 accepts the leaders of other hosts.

#include <string>

#include <netinet/in.h>

namespace apgas::inline v0::comm {

// Chooses the address. `wanted` is APGAS_INTERFACE: the name of an interface (eth0), an address
// (10.0.0.7) or a network (10.0.0.0/24). If it is empty, the result is the address of the host
// name, if that is an address of this host other than loopback; otherwise that of the first
// interface which is up and not loopback.
// Throws: launch_error, which lists the available interfaces.
in_addr address_of_job(const std::string& wanted);

}  // namespace apgas::inline v0::comm

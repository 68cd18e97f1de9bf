// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address of this machine where the leaders of other hosts reach place 0.

#include <string>

#include <netinet/in.h>

namespace apgas::inline v0::comm {

// `wanted` is APGAS_INTERFACE: the name of an interface (eth0), an address (10.0.0.7) or a network
// (10.0.0.0/24). Empty: the address that the host name stands for, if it is one of this machine and
// not of the loopback; else the first interface that is up and no loopback.
// Throws: launch_error, which lists what there is.
in_addr address_of_job(const std::string& wanted);

}  // namespace apgas::inline v0::comm

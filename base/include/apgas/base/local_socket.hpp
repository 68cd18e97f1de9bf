// SPDX-License-Identifier: Apache-2.0
#pragma once

// Unix sockets in the abstract namespace: they leave no file behind, also after SIGKILL, and are
// visible only in one network namespace. None is inherited by a program that this process starts,
// and none blocks.

#include <string>

#include <sys/types.h>

#include <apgas/base/descriptor.hpp>

namespace apgas::inline v0::base {

// A socket that accepts connections at the name, of which up to `backlog` may wait; a connection to
// it. Throws: std::system_error.
descriptor listen_locally(const std::string& name, int backlog);
descriptor connect_locally(const std::string& name);

// The process at the other end of a connection of a Unix socket, as the kernel knows it.
struct local_peer {
  pid_t process = 0;
  uid_t user = static_cast<uid_t>(-1);  // nobody, if the kernel does not tell
};
local_peer local_peer_of(const descriptor& connection) noexcept;

}  // namespace apgas::inline v0::base

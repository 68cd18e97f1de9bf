// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sockets of the failure detector. They are not inherited by other programs and do not raise
// SIGPIPE.

#include <chrono>
#include <cstdint>
#include <string>

#include <netinet/in.h>

#include <apgas/base/descriptor.hpp>
#include <apgas/base/local_socket.hpp>

#include "detector_messages.hpp"

namespace apgas::inline v0::comm {

using base::descriptor;

// The name of the Unix socket on which a leader accepts the places of its host.
std::string local_name(const detector_token& token, rank leader);

// How many connections may wait at a listening socket.
inline constexpr int detector_backlog = 4096;

// Listening sockets and connections between hosts; for those of one host see base/local_socket.hpp.
// listen_on() chooses a port and returns it in `port`; connect_to() waits for at most `patience`.
// Throws: std::system_error.
descriptor listen_on(in_addr address, std::uint16_t& port);
descriptor connect_to(in_addr address, std::uint16_t port, std::chrono::milliseconds patience);

// The next pending connection, or an empty descriptor.
descriptor accept_one(const descriptor& listener) noexcept;

// The origin of a connection: "10.77.0.12", or "process 123 of user 1000" on this host.
std::string name_of_peer(const descriptor& connection);
// Whether the peer may try to authenticate: it is a process of this user, or it connects over the
// network.
bool is_allowed_peer(const descriptor& connection) noexcept;

// Sends the whole record, or nothing if that would block. Returns whether it was sent.
// Context: any thread, signal handlers.
bool send_record(int to, const detector_message& record) noexcept;

}  // namespace apgas::inline v0::comm

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sockets of the failure detector. They are not inherited by other programs and do not raise
// SIGPIPE.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <netinet/in.h>

#include "detector_messages.hpp"

namespace apgas::inline v0::comm {

// Owns a file descriptor.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor();

  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

// The name of the Unix socket on which a leader accepts the places of its host.
std::string local_name(const detector_token& token, rank leader);

// Listening sockets and connections. listen_on() chooses a port and returns it in `port`;
// connect_to() waits for at most `patience`.
// Throws: std::system_error.
descriptor listen_locally(const std::string& name);
descriptor listen_on(in_addr address, std::uint16_t& port);
descriptor connect_locally(const std::string& name);
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

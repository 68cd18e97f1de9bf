// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sockets of the watch. None is inherited by other programs, none raises SIGPIPE.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <netinet/in.h>

#include "detector_messages.hpp"

namespace apgas::inline v0::comm {

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

// The address of a listener: of this machine (a leader's, for its host), or of the network.
std::string local_name(const detector_token& token, rank leader);

// They throw std::system_error.
descriptor listen_locally(const std::string& name);
descriptor listen_on(in_addr address, std::uint16_t& port);  // any port, which is told
descriptor connect_locally(const std::string& name);
descriptor connect_to(in_addr address, std::uint16_t port, std::chrono::milliseconds patience);

// The next connection, or none.
descriptor accept_one(const descriptor& listener) noexcept;

// Who is at the other end: "10.77.0.12", or "process 123" of this machine.
std::string name_of_peer(const descriptor& connection);
// Whether it is a process of this user, or comes over the network.
bool may_report(const descriptor& connection) noexcept;

// All of it or nothing, without waiting. Context: any thread, signal handlers.
bool send_record(int to, const detector_message& record) noexcept;

}  // namespace apgas::inline v0::comm

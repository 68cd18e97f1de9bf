// SPDX-License-Identifier: Apache-2.0
#pragma once

// Accepts the connections of the job's places and rejects all others. A new connection is an
// unauthenticated peer until it has sent a hello with the token of the job and a rank that is
// expected. If it does not do so within some seconds, the connection is closed, and one line names
// its origin. When all expected places have connected, the listeners are closed as well.

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <vector>

#include <poll.h>

#include "detector_sockets.hpp"

namespace apgas::inline v0::comm {

class acceptor {
 public:
  using time = std::chrono::nanoseconds;
  using admit_function = std::function<void(rank from, descriptor connection)>;
  using report_function = std::function<void(const std::string& line)>;

  static constexpr time hello_timeout = std::chrono::seconds{5};
  static constexpr std::size_t max_pending = 64;  // a further one displaces the oldest
  static constexpr time report_interval = std::chrono::seconds{10};

  acceptor(const detector_token& token, std::set<rank> expected, admit_function admit,
           report_function report);

  void open(descriptor listener);
  bool is_open() const noexcept { return !listeners_.empty(); }

  // Adds the descriptors to poll, and handles the results: `found` points to the same number of
  // entries, and nothing else may be called in between.
  void add_to(std::vector<pollfd>& waited) const;
  void look(const pollfd* found, time now);
  // Closes the connections that have waited for longer than hello_timeout.
  void tick(time now);
  std::size_t pending() const noexcept { return pending_.size(); }

 private:
  struct unauthenticated_peer {
    descriptor connection;
    time since;
    message_assembler<detector_hello> hello;
  };

  void accept_all(const descriptor& listener, time now);
  // These return whether the peer has been handled: admitted or rejected.
  bool read(unauthenticated_peer& peer, time now);
  bool decide(unauthenticated_peer& peer, const detector_hello& hello, time now);
  void reject(const unauthenticated_peer& peer, const char* why, time now);

  const detector_token token_;
  std::set<rank> expected_;
  const admit_function admit_;
  const report_function report_;
  std::vector<descriptor> listeners_;
  std::list<unauthenticated_peer> pending_;
  time next_report_{};
  int unreported_ = 0;
};

}  // namespace apgas::inline v0::comm

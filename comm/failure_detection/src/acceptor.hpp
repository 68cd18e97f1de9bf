// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets the places of the job in, and nobody else. Who connects has some seconds to say a hello with
// the job's token and a rank that is expected; else the connection is closed and one line tells
// where it came from. When all are in, the listeners are closed, too.

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

  static constexpr time patience = std::chrono::seconds{5};
  static constexpr std::size_t most_pending = 64;  // the oldest goes when one more comes
  static constexpr time between_reports = std::chrono::seconds{10};

  acceptor(const detector_token& token, std::set<rank> expected, admit_function admit,
             report_function report);

  void open(descriptor listener);
  bool is_open() const noexcept { return !listeners_.empty(); }

  // What to poll, and what came of it: the same number of entries, with nothing done between.
  void add_to(std::vector<pollfd>& waited) const;
  void look(const pollfd* found, time now);
  // Closes what waited too long.
  void tick(time now);
  std::size_t pending() const noexcept { return pending_.size(); }

 private:
  struct unauthenticated_peer {
    descriptor connection;
    time since;
    message_assembler<detector_hello> hello;
  };

  void accept_all(const descriptor& listener, time now);
  // Whether the stranger is done with: let in, or turned away.
  bool read(unauthenticated_peer& who, time now);
  bool decide(unauthenticated_peer& who, const detector_hello& hello, time now);
  void reject(const unauthenticated_peer& who, const char* why, time now);

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

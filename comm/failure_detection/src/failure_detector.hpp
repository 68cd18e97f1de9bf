// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches the places of a job, by a thread and by connections of its own: MPI and UCX may hang or
// fail when a place is gone, and neither says which. detector_bootstrap.cpp starts it with MPI;
// detection_tree.hpp tells who is connected to whom, detector_state.hpp what follows from what is seen.
//
//                  written by                               read by
//   reported_code_   any thread, signal handlers, once        the thread of the watch
//   asked_signal_  a signal handler                         the thread of the watch
//   done_          the thread that made the watch           the thread of the watch
//   hushed_        the thread of the watch                  any thread, signal handlers
//   links_         the thread of the watch                  that; numbers_ shows them to handlers
//   numbers_       the thread of the watch                  any thread, signal handlers
//
// Pairs
//   P1  reported_code_, asked_signal_ and done_ before the wake-up by wake_ that tells of them.
//   P2  the watch to who finds it by current_failure_detector().
// A descriptor that a handler uses while it is closed may be another one by then: so connections
// are closed when the watch ends only.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <apgas/base/atomic.hpp>

#include "acceptor.hpp"
#include "detection_tree.hpp"
#include "detector_state.hpp"
#include "detector_sockets.hpp"

namespace apgas::inline v0::comm {

// What a watch needs to begin.
struct detector_plan {
  detection_tree hosts;
  rank here = 0;
  detector_token token{};
  std::chrono::nanoseconds silence{};
  descriptor up;                      // to above(here), the hello is sent; none at place 0
  std::vector<descriptor> listeners;  // for below(here)
};

class failure_detector {
 public:
  // `end` ends the job at all places, or at least this one.
  using end_function = void (*)(int code) noexcept;
  using print_function = void (*)(const std::string& line);

  failure_detector(detector_plan plan, end_function end, print_function print);
  failure_detector(const failure_detector&) = delete;
  failure_detector& operator=(const failure_detector&) = delete;
  // Says bye. Context: the thread that made it.
  ~failure_detector();

  // This place is done. Returns when all are; a place that is lost before ends the job as ever.
  // Context: the thread that made it, once.
  void wait_for_all();

  const detection_tree& hosts() const noexcept { return hosts_; }

  // This place has said why the job ends: nobody else will. Context: any thread, signal handlers.
  void reported(int code) noexcept;
  // Whether somebody else has. Context: any thread, signal handlers.
  bool others_reported() const noexcept { return hushed_.load(base::relaxed); }
  // Leaves, when what others have to say has been said. Context: a signal handler.
  void asked_to_end(int signal) noexcept;

  // Whether the watch has found, within that time, why the job ends; it does then.
  bool finds_the_end(std::chrono::milliseconds patience) const noexcept;

 private:
  struct link {
    rank other;
    descriptor connection;
    message_assembler<detector_message> records;
    bool open = true;
  };

  void run();
  void take_link(rank other, descriptor connection);
  void wait(detector_state::time now);
  void read(link& from, detector_state::time now);
  void obey(const link& from, const detector_message& record, detector_state::time now);
  void hear_own(detector_state::time now);
  void act(detector_state::time now);
  void leave(int code);
  void say(const detector_action& notice);
  void send_to_all(const detector_message& record) const noexcept;
  void hush(int code) noexcept;

  const detection_tree hosts_;
  const rank here_;
  const std::chrono::nanoseconds silence_;
  const end_function end_;
  const print_function print_;
  detector_state state_;
  acceptor acceptor_;
  std::vector<link> links_;
  std::unique_ptr<base::atomic<int>[]> numbers_;  // of connections, -1: none yet
  std::size_t most_links_;
  descriptor launcher_;
  descriptor wake_;
  std::vector<pollfd> waited_;
  detector_state::time next_sign_{};
  bool notice_of_timeout_ = false;
  bool told_ = false;  // that somebody has spoken, by this thread

  base::atomic<int> reported_code_{0};
  base::atomic<int> asked_signal_{0};
  base::atomic<bool> hushed_{false};
  base::atomic<bool> ending_{false};
  base::atomic<bool> done_{false};
  base::atomic<bool> stop_{false};
  std::thread thread_;
};

// The watch of this process, if there is one. Context: any thread, signal handlers.
failure_detector* current_failure_detector() noexcept;
void set_current_failure_detector(failure_detector* current) noexcept;

// Ends the job since `call` failed, which concerned that rank (-1: none). Mostly that place is
// gone: then the watch says so, and this waits for the end.
[[noreturn]] void call_failed(const std::string& call, rank other, const std::string& reason);

}  // namespace apgas::inline v0::comm

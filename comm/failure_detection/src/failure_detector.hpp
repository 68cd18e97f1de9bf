// SPDX-License-Identifier: Apache-2.0
#pragma once

// The failure detector: notices when a place of the job has failed, prints one notice, and ends the
// job. It uses a thread and connections of its own, because MPI and UCX may hang or fail when a
// place is lost, and do not say which one. detector_bootstrap.cpp starts it with the help of MPI;
// detection_tree.hpp defines which places are connected; detector_state.hpp makes the decisions.
//
//                      written by                            read by
//   reported_code_     any thread, signal handlers, once     the detector's thread
//   asked_signal_      a signal handler                      the detector's thread
//   done_, stop_       the owner of the detector             the detector's thread
//   others_reported_   the detector's thread                 any thread, signal handlers
//   links_             the detector's thread                 the detector's thread
//   numbers_           the detector's thread                 any thread, signal handlers
//
// Connections are closed only when the detector ends. If one were closed earlier, a signal handler
// could send to a descriptor that has been reused for something else.
//
// Pairs
//   P1  The detector's thread, woken through wake_, sees the values that were stored in
//       reported_code_, asked_signal_, done_ and stop_ before the wake-up.
//   P2  A thread that gets a detector from current_failure_detector() sees it fully constructed.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <apgas/base/atomic.hpp>

#include "acceptor.hpp"
#include "detection_tree.hpp"
#include "detector_sockets.hpp"
#include "detector_state.hpp"

namespace apgas::inline v0::comm {

// The parameters of a failure detector.
struct detector_plan {
  detection_tree tree;
  rank here = 0;
  detector_token token{};
  std::chrono::nanoseconds timeout{};
  descriptor parent;                  // connected to parent(here), hello sent; empty at place 0
  std::vector<descriptor> listeners;  // for the connections of children(here)
};

class failure_detector {
 public:
  // Ends the job at all places, or at least this process.
  using end_function = void (*)(int code) noexcept;
  using print_function = void (*)(const std::string& line);

  failure_detector(detector_plan plan, end_function end, print_function print);
  failure_detector(const failure_detector&) = delete;
  failure_detector& operator=(const failure_detector&) = delete;
  // Sends goodbye and stops the thread.
  // Context: the thread that created the detector.
  ~failure_detector();

  // Declares that this place is done, and returns when all places are. A place that fails in the
  // meantime still ends the job.
  // Context: the thread that created the detector, once.
  void wait_for_all();

  const detection_tree& tree() const noexcept { return tree_; }

  // Tells the other places that this one has printed why the job ends, so that they print nothing.
  // Context: any thread, signal handlers.
  void reported(int code) noexcept;
  // Whether another place has printed why the job ends.
  // Context: any thread, signal handlers.
  bool others_reported() const noexcept { return others_reported_.load(base::relaxed); }
  // Ends the process by `signal`, after a short time in which notices of other places may arrive.
  // Context: a signal handler.
  void asked_to_end(int signal) noexcept;

  // Waits for at most `patience`. Returns whether the detector has found a reason for which it ends
  // the job.
  bool failure_found_within(std::chrono::milliseconds patience) const noexcept;

 private:
  struct link {
    rank other;
    descriptor connection;
    message_assembler<detector_message> records;
    bool open = true;
  };

  void run();
  void add_link(rank other, descriptor connection);
  void wait(detector_state::time now);
  void read(link& from, detector_state::time now);
  void handle_message(const link& from, const detector_message& record, detector_state::time now);
  void take_own_events(detector_state::time now);
  void carry_out_actions(detector_state::time now);
  void end_process(int code);
  void print_notice(const detector_action& notice);
  void send_to_all(const detector_message& record) const noexcept;
  void announce(int code) noexcept;

  const detection_tree tree_;
  const rank here_;
  const std::chrono::nanoseconds timeout_;
  const end_function end_;
  const print_function print_;
  detector_state state_;
  acceptor acceptor_;
  std::vector<link> links_;
  std::unique_ptr<base::atomic<int>[]> numbers_;  // descriptors of links_; -1: no connection yet
  std::size_t max_links_;
  descriptor launcher_;
  descriptor wake_;
  std::vector<pollfd> polled_;
  detector_state::time next_heartbeat_{};
  bool notice_of_timeout_ = false;  // the notice of this place was about a missing heartbeat
  bool announced_ = false;          // whether announce() has told the connected places

  base::atomic<int> reported_code_{0};
  base::atomic<int> asked_signal_{0};
  base::atomic<bool> others_reported_{false};
  base::atomic<bool> ending_{false};
  base::atomic<bool> done_{false};
  base::atomic<bool> stop_{false};
  std::thread thread_;
};

// The failure detector of this process, or null.
// Context: any thread, signal handlers.
failure_detector* current_failure_detector() noexcept;
void set_current_failure_detector(failure_detector* current) noexcept;

// Ends the job because `call` has failed. `other` is the rank that it concerned, or -1. The usual
// cause is the failure of that place, so this function first gives the failure detector time to
// report it.
[[noreturn]] void call_failed(const std::string& call, rank other, const std::string& reason);

}  // namespace apgas::inline v0::comm

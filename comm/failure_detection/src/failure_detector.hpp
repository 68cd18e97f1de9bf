// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches the places of a job, by a thread and by connections of its own: MPI and UCX may hang or
// fail when a place is gone, and neither says which. detector_bootstrap.cpp starts it with MPI;
// detection_tree.hpp tells who is connected to whom, detector_state.hpp what follows from what is seen.
//
//                  written by                               read by
//   spoken_code_   any thread, signal handlers, once        the thread of the watch
//   asked_signal_  a signal handler                         the thread of the watch
//   done_          the thread that made the watch           the thread of the watch
//   hushed_        the thread of the watch                  any thread, signal handlers
//   links_         the thread of the watch                  that; numbers_ shows them to handlers
//   numbers_       the thread of the watch                  any thread, signal handlers
//
// Pairs
//   P1  spoken_code_, asked_signal_ and done_ before the wake-up by wake_ that tells of them.
//   P2  the watch to who finds it by current_watch().
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
struct watch_plan {
  watch_hosts hosts;
  rank here = 0;
  watch_token token{};
  std::chrono::nanoseconds silence{};
  descriptor up;                      // to above(here), the hello is sent; none at place 0
  std::vector<descriptor> listeners;  // for below(here)
};

class watch {
 public:
  // `end` ends the job at all places, or at least this one.
  using end_function = void (*)(int code) noexcept;
  using print_function = void (*)(const std::string& line);

  watch(watch_plan plan, end_function end, print_function print);
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  // Says bye. Context: the thread that made it.
  ~watch();

  // This place is done. Returns when all are; a place that is lost before ends the job as ever.
  // Context: the thread that made it, once.
  void wait_for_all();

  const watch_hosts& hosts() const noexcept { return hosts_; }

  // This place has said why the job ends: nobody else will. Context: any thread, signal handlers.
  void spoken(int code) noexcept;
  // Whether somebody else has. Context: any thread, signal handlers.
  bool others_spoke() const noexcept { return hushed_.load(base::relaxed); }
  // Leaves, when what others have to say has been said. Context: a signal handler.
  void asked_to_end(int signal) noexcept;

  // Whether the watch has found, within that time, why the job ends; it does then.
  bool finds_the_end(std::chrono::milliseconds patience) const noexcept;

 private:
  struct link {
    rank other;
    descriptor connection;
    watch_parts<watch_record> records;
    bool open = true;
  };

  void run();
  void take_link(rank other, descriptor connection);
  void wait(watch_machine::time now);
  void read(link& from, watch_machine::time now);
  void obey(const link& from, const watch_record& record, watch_machine::time now);
  void hear_own(watch_machine::time now);
  void act(watch_machine::time now);
  void leave(int code);
  void say(const watch_action& verdict);
  void send_to_all(const watch_record& record) const noexcept;
  void hush(int code) noexcept;

  const watch_hosts hosts_;
  const rank here_;
  const std::chrono::nanoseconds silence_;
  const end_function end_;
  const print_function print_;
  watch_machine machine_;
  watch_door door_;
  std::vector<link> links_;
  std::unique_ptr<base::atomic<int>[]> numbers_;  // of connections, -1: none yet
  std::size_t most_links_;
  descriptor launcher_;
  descriptor wake_;
  std::vector<pollfd> waited_;
  watch_machine::time next_sign_{};
  bool verdict_of_silence_ = false;
  bool told_ = false;  // that somebody has spoken, by this thread

  base::atomic<int> spoken_code_{0};
  base::atomic<int> asked_signal_{0};
  base::atomic<bool> hushed_{false};
  base::atomic<bool> ending_{false};
  base::atomic<bool> done_{false};
  base::atomic<bool> stop_{false};
  std::thread thread_;
};

// The watch of this process, if there is one. Context: any thread, signal handlers.
watch* current_watch() noexcept;
void set_current_watch(watch* current) noexcept;

// Ends the job since `call` failed, which concerned that rank (-1: none). Mostly that place is
// gone: then the watch says so, and this waits for the end.
[[noreturn]] void call_failed(const std::string& call, rank other, const std::string& reason);

}  // namespace apgas::inline v0::comm

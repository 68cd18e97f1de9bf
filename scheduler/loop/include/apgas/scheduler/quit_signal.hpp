// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIGQUIT (Ctrl-\ in a terminal) as a request for a report, while somebody answers it: the
// watchdog, or without one the control server.
namespace apgas::inline v0::scheduler {

// While an object exists, SIGQUIT is a request and not the end of the process. If the program has a
// handler of its own, or ignores the signal, it stays so. The last object restores the default.
// Context: any thread.
class quit_signal_handler {
 public:
  // With `event`, the descriptor of an eventfd, the handler also writes to that. There is one such
  // object at a time.
  explicit quit_signal_handler(int event = -1) noexcept;
  quit_signal_handler(const quit_signal_handler&) = delete;
  quit_signal_handler& operator=(const quit_signal_handler&) = delete;
  ~quit_signal_handler();

  // Returns the value of quit_signals() just before this object existed, so that a comparison
  // misses no signal.
  unsigned received_before() const noexcept { return received_before_; }

 private:
  const unsigned received_before_;
  const int event_;
};

// Returns how often the process received SIGQUIT while such an object existed. Context: any thread.
unsigned quit_signals() noexcept;

}  // namespace apgas::inline v0::scheduler

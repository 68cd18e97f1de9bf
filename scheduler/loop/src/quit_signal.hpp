// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIGQUIT (Ctrl-\ in a terminal) as a request for a report, while a watchdog exists that wants it.
namespace apgas::inline v0::scheduler {

// While an object exists, SIGQUIT is a request and not the end of the process. If the program has a
// handler of its own, or ignores the signal, it stays so. The last object restores the default.
// Context: any thread.
class quit_signal_handler {
 public:
  quit_signal_handler() noexcept;
  quit_signal_handler(const quit_signal_handler&) = delete;
  quit_signal_handler& operator=(const quit_signal_handler&) = delete;
  ~quit_signal_handler();
};

// Returns how often the process received SIGQUIT while such an object existed. Context: any thread.
unsigned quit_signals() noexcept;

}  // namespace apgas::inline v0::scheduler

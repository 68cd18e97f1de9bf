// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <apgas/base/atomic.hpp>

#include "quit_signal.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// A signal belongs to the process, and a handler has no argument that could lead to an object.
constinit base::atomic<unsigned> received{0};

void on_quit(int) noexcept { received.fetch_add(1, base::relaxed); }

}  // namespace

void handle_quit_signal() noexcept {
  struct sigaction action{};
  action.sa_handler = [](int signal) { on_quit(signal); };
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  static_cast<void>(sigaction(SIGQUIT, &action, nullptr));
}

unsigned quit_signals() noexcept { return received.load(base::relaxed); }

}  // namespace apgas::inline v0::scheduler

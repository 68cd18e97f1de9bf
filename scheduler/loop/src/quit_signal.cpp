// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/quit_signal.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

#include <unistd.h>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::scheduler {
namespace {

// A signal belongs to the process, and a handler has no argument that could lead to an object.
constinit base::atomic<unsigned> received{0};
constinit base::atomic<int> wake_event{-1};

void on_quit(int) noexcept {
  received.fetch_add(1, base::relaxed);
  const int to = wake_event.load(base::relaxed);
  if (to < 0) return;
  const int error = errno;
  const std::uint64_t one = 1;
  static_cast<void>(!write(to, &one, sizeof one));  // it fails only if it is readable already
  errno = error;
}

// Several places of one process have a watchdog each.
constinit std::mutex handler_lock;
constinit int handlers = 0;  // objects that exist

bool handler_is(void (*handler)(int)) noexcept {
  struct sigaction present{};
  return sigaction(SIGQUIT, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
         present.sa_handler == handler;
}

void set_handler(void (*handler)(int)) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  static_cast<void>(sigaction(SIGQUIT, &action, nullptr));
}

}  // namespace

quit_signal_handler::quit_signal_handler(int event_to_signal) noexcept
    : received_before_(quit_signals()), event_(event_to_signal) {
  const std::lock_guard hold(handler_lock);
  if (event_ >= 0) wake_event.store(event_, base::relaxed);
  if (handlers++ == 0 && handler_is(SIG_DFL)) set_handler(on_quit);
}

quit_signal_handler::~quit_signal_handler() {
  const std::lock_guard hold(handler_lock);
  if (event_ >= 0) wake_event.store(-1, base::relaxed);
  if (--handlers == 0 && handler_is(on_quit)) set_handler(SIG_DFL);
}

unsigned quit_signals() noexcept { return received.load(base::relaxed); }

}  // namespace apgas::inline v0::scheduler

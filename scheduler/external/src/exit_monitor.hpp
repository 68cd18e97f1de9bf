// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

// Notices that a thread calls std::exit. The C library begins an exit with the destructors of the
// calling thread's thread_local objects, before those of any static object and before every
// handler of std::atexit, so a destructor registered there runs first of all. It also runs when
// the thread ends as usual; then the monitor is over and nothing is called.
//
// Invariants
//   I1  The memory of the registration belongs to the thread: it is freed by its destructor, after
//       the monitor, whose frame has ended by then, has taken its function back.

// Names the program or library that this code is in, for the C library.
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;

namespace apgas::inline v0::scheduler {

class exit_monitor {
 public:
  // Calls on_exit() when this thread calls std::exit while the monitor lives; null: nothing is
  // called. Not for std::quick_exit and _exit, which run no destructors.
  // Context: the thread that is watched, which also ends the monitor.
  explicit exit_monitor(void (*on_exit)() noexcept) : registration_(new registration{on_exit}) {
    // Fails only without memory; then an exit is noticed by the handlers of std::atexit.
    if (abi::__cxa_thread_atexit(thread_ends, registration_, &__dso_handle) != 0) {
      delete registration_;
      registration_ = nullptr;
    }
  }
  exit_monitor(const exit_monitor&) = delete;
  exit_monitor& operator=(const exit_monitor&) = delete;
  ~exit_monitor() {
    if (registration_ != nullptr) registration_->on_exit = nullptr;  // I1
  }

 private:
  struct registration {
    void (*on_exit)() noexcept;
  };

  static void thread_ends(void* of) noexcept {
    auto* const ended = static_cast<registration*>(of);
    if (ended->on_exit != nullptr) ended->on_exit();
    delete ended;  // I1
  }

  registration* registration_;
};

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports why a process of a job ends when a signal ends it, in one line:
//
//   apgas: place 2 on node1: ended by signal 11 (Segmentation fault) in task "relax" spawned at
//   solve.cpp:12
//
// A handler is installed only for signals that nobody else handles. Of all the processes of a job,
// only one should print a reason. A place that has printed another reason (a failed assertion, a
// stack overflow) calls exit_reason_printed, and a place that knows that another place has printed
// its reason ends silently. SIGTERM from the process that started this one is not a failure of this
// place: it is a request of the launcher, which reports the reason itself.
//
// Pairs
//   P1  A signal handler that reads a non-null listener sees the complete listener object and the
//       name that was set with it.

#include <chrono>
#include <string_view>

namespace apgas::inline v0::base {

class safe_line;

// Connects the reports of this process with those of the other places; the failure detector of comm
// implements it. All three functions are also called from signal handlers.
struct exit_reason_listener {
  // This place has printed its reason and ends with exit code `code`.
  void (*printed)(int code) noexcept;
  // Returns whether another place has printed why the job ends.
  bool (*others_printed)() noexcept;
  // The launcher has requested the end with this signal. If it returns true, the listener ends the
  // process; if false, the signal ends it at once.
  bool (*asked_to_end)(int signal) noexcept;
};

// Installs the handler for the signals of crashes: SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. It
// acts once per process and leaves a signal alone that already has a handler.
// Context: the main thread, before there are others.
void catch_crashes() noexcept;
// The same, and the handler for SIGTERM. The parent process at the time of the call is taken for
// the launcher.
void catch_signals() noexcept;

// Sets the function that adds to the report of a crash what the calling thread was doing, such as
// " in main". It is called in the handler of the signal, on the thread that got it.
// Context: any thread.
void set_thread_description(void (*describe)(safe_line& line) noexcept) noexcept;

// Sets the name of this place in reports, such as "place 2 on node1" (it is "a place" until the
// first call), and the listener, which must live as long as it is set; null removes it.
// Context: any thread.
void set_exit_reporting(std::string_view name, const exit_reason_listener* listener) noexcept;

// Records that this place has printed why it ends with exit code `code`, and notifies the listener.
// Only the first call has an effect. Context: any thread, signal handlers.
void exit_reason_printed(int code) noexcept;

// Adds a function that is called, once, before the process ends other than in order: after a fatal
// error, by a signal, or because another place has failed. It may run in a handler of a signal, and
// follows the line with the reason, if this place prints one. There may be two such functions; a
// function that was added before is not added again. Context: any thread.
void add_end_action(void (*action)() noexcept) noexcept;

// Calls these functions, unless this was done before; a second thread waits for the first one, at
// most a few seconds. Context: any thread, signal handlers.
void run_end_actions() noexcept;

// Returns whether another place has printed why the job ends. Context: any thread, signal handlers.
bool others_printed_exit_reason() noexcept;

// Waits until that is so, at most for `patience`, and returns whether it is. Returns false at once
// if there is no listener. A caller that finds a failure which may follow from the end of another
// place waits for the reason of that end before it reports its own.
// Context: any thread. Blocks the thread.
bool others_print_exit_reason_within(std::chrono::milliseconds patience) noexcept;

}  // namespace apgas::inline v0::base

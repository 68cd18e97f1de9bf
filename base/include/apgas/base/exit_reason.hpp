// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a place of several processes says when a signal ends it, in one line:
//
//   apgas: place 2 on node1: ended by signal 11 (Segmentation fault)
//
// Only where nobody else handles that signal, before or after. It is said once: who has spoken for
// another reason (a failed assertion, an overflow of a stack) tells exit_reason_printed, and a place that
// knows that another one has spoken ends without a word. SIGTERM from the process that started this
// one is no failure of this place: somebody else knows why, and says it.
//
// Pairs
//   P1  a listener that is set is complete for the handler that sees it.

#include <string_view>

namespace apgas::inline v0::base {

// Who is to know. All are called in signal handlers, too.
struct exit_reason_listener {
  void (*printed)(int code) noexcept;  // this place has spoken, and ends with that code
  bool (*others_printed)() noexcept;
  // The launcher asks for the end by this signal. True: this process will end; else it does now.
  bool (*asked_to_end)(int signal) noexcept;
};

// Catches the signals of crashes and SIGTERM, once per process; SIGTERM of that process is its
// parent's. Context: before other threads.
void catch_signals() noexcept;

// "place 2 on node1"; until then it is "a place". Null listener: nobody. Context: any thread.
void set_exit_reporting(std::string_view name, const exit_reason_listener* listener) noexcept;

// Why this place ends was said. Context: any thread, signal handlers.
void exit_reason_printed(int code) noexcept;

// Whether another place has said why the job ends. Context: any thread, signal handlers.
bool others_printed_exit_reason() noexcept;

}  // namespace apgas::inline v0::base

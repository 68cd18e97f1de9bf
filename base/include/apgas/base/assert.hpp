// SPDX-License-Identifier: Apache-2.0
#pragma once

// Assertions, and the only way to end the job on an internal error.
//
//   APGAS_ASSERT(condition)           checked in every build
//   APGAS_ASSERT(condition, "text")   the same, with an explanation for the message
//   APGAS_DEBUG_ASSERT(...)           checked without NDEBUG only; for checks that cost too much
//   APGAS_UNREACHABLE("text")         marks code that must never be reached
//
// A failure prints one line, `apgas: <context>: file:line: assertion ...`, and ends the job at all
// places through the hooks that launch installs. The context names the place, the worker and the
// task. The texts must be string literals. Under the model checker, APGAS_ASSERT reports a failure
// together with the execution that led to it.

#include <source_location>
#include <string>
#include <string_view>

#include <apgas/base/api.hpp>

#ifdef APGAS_MODEL_CHECK
#include <relacy/relacy.hpp>
#endif

namespace apgas::inline v0::base {

// Reports that `expression` at `where` was false and ends the job; the macros below call it.
// Context: any thread.
APGAS_API [[noreturn]] void assertion_failed(const char* expression, const char* text,
                                             std::source_location where);

// Prints `apgas: <context>: message` and ends the job with fatal_exit_code. It is meant for
// failures of the environment during a run, such as a lost peer or a failing system call, from
// which no caller could recover. If two threads fail, only the message of the first is printed.
// Allocates nothing, except for the context, which is left out if there is no memory for it.
// Context: any thread.
[[noreturn]] void fatal(std::string_view message);

// Installs the two hooks that fatal errors use. `context` describes the calling thread, for example
// "place 1, worker 0, task fib"; an empty string leaves the context out of the message. `terminate`
// ends the job at all places with exit code `code` and should not return. A null pointer restores
// the default: no context, and std::abort. Both hooks must be callable from any thread.
// Context: any thread.
using context_hook = std::string (*)();
using terminate_hook = void (*)(int code);
void set_fatal_hooks(context_hook context, terminate_hook terminate) noexcept;

// Ends the job with `code`, by the terminate hook if there is one, after the reason was printed.
// Context: any thread.
[[noreturn]] void end_job(int code) noexcept;

// Returns what the context hook says of the calling thread; empty if there is no hook or it throws.
// Context: any thread.
std::string current_context() noexcept;

// The exit code that the terminate hook receives.
inline constexpr int fatal_exit_code = 1;
// The exit code of a program that the watchdog ends because of a deadlock, as that of timeout(1).
inline constexpr int deadlock_exit_code = 124;

}  // namespace apgas::inline v0::base

#ifdef APGAS_MODEL_CHECK
#define APGAS_ASSERT(condition, ...) RL_ASSERT(condition)
#else
#define APGAS_ASSERT(condition, ...)                                 \
  (__builtin_expect(static_cast<bool>(condition), 1)                 \
       ? static_cast<void>(0)                                        \
       : ::apgas::base::assertion_failed(#condition, "" __VA_ARGS__, \
                                         std::source_location::current()))
#endif

#ifdef NDEBUG
#define APGAS_DEBUG_ASSERT(condition, ...) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define APGAS_DEBUG_ASSERT(condition, ...) APGAS_ASSERT(condition, __VA_ARGS__)
#endif

#define APGAS_UNREACHABLE(text) \
  ::apgas::base::assertion_failed("unreachable", text, std::source_location::current())

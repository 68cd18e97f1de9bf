// SPDX-License-Identifier: Apache-2.0
#pragma once

// Assertions and the one way to end the job on an internal error.
//
//   APGAS_ASSERT(cond), APGAS_ASSERT(cond, "text")   always on
//   APGAS_DEBUG_ASSERT(...)                          where a measurement shows the cost; off with
//   NDEBUG APGAS_UNREACHABLE("text")
//
// A failure prints one line, `apgas: <context>: file:line: assertion ...`, and ends the whole job
// through the hooks that launch installs: the context names place, worker and task. Texts are
// string literals. In the model checker a failed assertion is reported with its history.

#include <source_location>
#include <string>

#ifdef APGAS_MODEL_CHECK
#include <relacy/relacy.hpp>
#endif

namespace apgas::inline v0::base {

// Context: any thread.
[[noreturn]] void assertion_failed(const char* expression, const char* text,
                                   std::source_location where);

// Prints `apgas: <context>: message` and ends the job. For errors of the environment while
// running (a lost peer, a failing system call), where no caller could go on.
// Context: any thread.
[[noreturn]] void fatal(const std::string& message);

// `context` says where the calling thread is ("place 1, worker 0, task fib"; empty for nothing to
// say); `terminate` ends the job at all places and should not return. Null: the default again (no
// context, std::abort). Both must be safe to call from any thread.
using context_hook = std::string (*)();
using terminate_hook = void (*)(int code);
void set_fatal_hooks(context_hook context, terminate_hook terminate) noexcept;

// What the context hook says, or "". Never throws.
std::string current_context() noexcept;

// What terminate is called with.
inline constexpr int fatal_exit_code = 1;

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

// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/assert.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <apgas/base/exit_reason.hpp>
#include <apgas/base/log.hpp>

namespace apgas::inline v0::base {
namespace {

std::atomic<context_hook> context_of_thread{nullptr};
std::atomic<terminate_hook> terminate_job{nullptr};

// Prints the message and ends the job, only once. A second failure of the same thread, which can
// only be inside a hook, aborts at once. A failure of another thread waits for the end, so that
// only the first message is printed.
[[noreturn]] void terminate_with(std::string_view message) {
  static std::atomic<pid_t> failing_thread{0};
  pid_t expected = 0;
  if (!failing_thread.compare_exchange_strong(expected, gettid())) {
    if (expected == gettid()) std::abort();
    while (true) pause();
  }
  print_line(message);
  exit_reason_printed(fatal_exit_code);
  if (auto hook = terminate_job.load()) hook(fatal_exit_code);
  std::abort();
}

}  // namespace

void set_fatal_hooks(context_hook context, terminate_hook terminate) noexcept {
  context_of_thread.store(context);
  terminate_job.store(terminate);
}

std::string current_context() noexcept {
  auto hook = context_of_thread.load();
  if (hook == nullptr) return {};
  try {
    return hook();
  } catch (...) {
    return {};
  }
}

void fatal(std::string_view message) { terminate_with(message); }

void assertion_failed(const char* expression, const char* text, std::source_location where) {
  std::string line = where.file_name();
  line.append(":").append(std::to_string(where.line()));
  line.append(": assertion `").append(expression).append("' failed");
  if (*text != '\0') line.append(": ").append(text);
  terminate_with(line);
}

void end_job(int code) noexcept {
  std::fflush(nullptr);  // what the program has printed
  exit_reason_printed(code);
  if (auto hook = terminate_job.load()) hook(code);
  std::_Exit(code);
}

}  // namespace apgas::inline v0::base

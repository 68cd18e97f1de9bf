// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime under a program of parlaylib, which does not know of it: it starts when a thread
// outside tasks calls parlaylib for the first time, also before main, and ends after main.

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <apgas/config.hpp>
#include <apgas/errors.hpp>
#include <apgas/place.hpp>
#include <apgas/runtime.hpp>

namespace apgas_parlay {

// The number of workers that PARLAY_NUM_THREADS asks for, or 0 for the runtime's default. The
// environment variable APGAS_WORKERS wins over both.
// Throws: apgas::launch_error if the variable is not a number from 1 on.
inline int workers_of_environment() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, when the runtime starts
  const char* const variable = std::getenv("PARLAY_NUM_THREADS");
  if (variable == nullptr) return 0;
  const std::string_view text = variable;
  int workers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  const bool all_read = error == std::errc{} && end == text.data() + text.size();
  if (all_read && workers > 0) return workers;
  throw apgas::launch_error("PARLAY_NUM_THREADS must be a number of workers, 1 or more, but is '" +
                            std::string(text) + "'; correct it or unset it");
}

// Two settings are those of parlaylib's own scheduler. The stack of a task is as large as that of a
// thread usually is; only the pages that a task has used take memory. An idle worker searches for
// 10 ms before it sleeps: a program that is serial for a shorter time finds it awake, and does not
// pay 8 us to wake it.
inline constexpr std::size_t stack_bytes = std::size_t{8} << 20;
inline constexpr const char* idle_us = "10000";

class started_runtime {
 public:
  // The only one. The first call starts the workers. Context: a thread that is no worker.
  static started_runtime& instance() {
    static started_runtime only;
    return only;
  }

  // Whether the runtime has been started and has ended. What static objects do after that, such as
  // destroying a sequence, is done by the thread itself.
  static bool ended() noexcept { return has_ended.load(std::memory_order_acquire); }

  std::size_t workers() const noexcept { return workers_; }

  // Runs f() as a task and waits for it.
  // Throws: what f throws, as one apgas::multiple_exceptions. Context: any thread.
  template <class F>
  void run(F& f) {
    runtime_.run([&f] { f(); });
  }

 private:
  started_runtime()
      : runtime_(settings()),
        workers_(runtime_.run([] { return static_cast<std::size_t>(apgas::num_workers()); })) {}
  ~started_runtime() { has_ended.store(true, std::memory_order_release); }

  static apgas::config settings() {
    apgas::config chosen;
    chosen.workers = workers_of_environment();
    chosen.stack_bytes = stack_bytes;
    chosen.more["APGAS_IDLE"] = idle_us;
    chosen.serve_and_exit = true;  // in a job of several processes only place 0 runs the program
    return chosen;
  }

  static inline std::atomic<bool> has_ended = false;
  apgas::runtime runtime_;
  std::size_t workers_;
};

// The number of workers for a thread outside tasks.
inline std::size_t workers_outside_tasks() {
  return started_runtime::ended() ? 1 : started_runtime::instance().workers();
}

// Whether a thread outside tasks calls after the end of the runtime. It then does the work itself.
inline bool cannot_start() noexcept {
  return !apgas::scheduler::on_fiber() && started_runtime::ended();
}

// Runs f() in a task: in the calling one, or in a new one if a thread outside tasks calls.
template <class F>
void in_task(F f) {
  if (apgas::scheduler::on_fiber()) [[likely]] {
    f();
  } else {
    started_runtime::instance().run(f);
  }
}

}  // namespace apgas_parlay

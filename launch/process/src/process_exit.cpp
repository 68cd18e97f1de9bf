// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>

#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/exit_reason.hpp>

#include "active_program.hpp"
#include "process_exit.hpp"

// Pairs
//   P1  The workers are complete for a thread that exits and sees sole_place.
namespace apgas::inline v0::launch {
namespace {

// How long an exit waits for tasks that compute, and are not interrupted. Where other programs
// compute, a worker may need a good part of it to come to its next choice.
constexpr std::chrono::milliseconds longest_wait{1000};

base::atomic<scheduler::scheduler*> sole_place{nullptr};
base::atomic<pid_t> exiting{0};  // the thread that is in std::exit; publishes nothing
pid_t monitored = 0;             // this process, and not a child that it forks

}  // namespace

void monitor_process_exit() noexcept {
  monitored = getpid();
  static const bool registered = std::atexit(on_process_exit) == 0;
  static_cast<void>(registered);
}

void monitor_process_exit_with_mpi() noexcept {
  static const bool registered = std::atexit(on_process_exit) == 0;
  static_cast<void>(registered);
}

void on_process_exit() noexcept {
  if (getpid() != monitored) return;
  const program_kind kind = active_kind();
  if (kind == program_kind::none || process_is_exiting()) return;
  scheduler::scheduler* const workers = sole_place.load(base::acquire);  // P1
  if (workers == nullptr) {
    base::fatal(kind == program_kind::run
                    ? "the process exits while a run is active; this ends the job"
                    : "the process exits while an apgas::runtime is active; this ends the job");
  }
  exiting.store(gettid(), base::relaxed);
  workers->halt(longest_wait);
  base::run_end_actions();
}

bool process_is_exiting() noexcept {
  const pid_t thread = exiting.load(base::relaxed);
  while (thread != 0 && thread != gettid()) pause();
  return thread != 0;
}

void set_sole_place(scheduler::scheduler* workers) noexcept {
  sole_place.store(workers, base::release);  // P1
}

}  // namespace apgas::inline v0::launch

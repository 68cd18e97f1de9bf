// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <source_location>
#include <string>
#include <unordered_set>
#include <vector>

#include <apgas/scheduler/fiber.hpp>

// The trace of a run, for a trace viewer: for each worker the tasks that its scheduling loop ran,
// each from where it began or continued to where it ended or waited, and the times at which the
// worker searched, slept, stole and polled the network. Tasks that ran on top of the frame that
// spawned them have no entry of their own, because recording them would cost more than running
// them. A trace is written only on request (APGAS_TRACE).
namespace apgas::inline v0::scheduler {

// The trace of one worker. Context: that worker, until it has ended.
class trace_log {
 public:
  using clock = std::chrono::steady_clock;

  struct entry {
    const char* what = nullptr;  // the activity of the worker; null for a task
    clock::time_point begin;
    clock::time_point end;
    std::source_location site;   // of a task: its spawn site
    const char* name = nullptr;  // of a task: its name, or null
    const char* then = nullptr;  // of a task: what it waited for; null if it ended
    std::uint64_t tasks = 0;     // of a steal: the number of tasks
  };

  // The worker begins or continues a task.
  void task_begins(const task_state& task) noexcept;
  // The spawn site or name of `task` has become known. It is ignored unless `task` is the one that
  // began, rather than another that runs on top of it.
  void task_described(const task_state& task) noexcept;
  // The worker leaves the task, which now waits for `waits_for`, or has ended if that is null.
  void task_left(const char* waits_for) noexcept;

  // Adds an activity of the worker that began at `begin` and ends now; for a steal, the number of
  // tasks that were taken.
  void add(const char* what, clock::time_point begin, std::uint64_t tasks = 0) noexcept;

  const std::vector<entry>& entries() const noexcept { return entries_; }
  // Returns the number of entries that were left out, for want of memory or because there were too
  // many.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  void keep(const entry& e) noexcept;

  entry running_;
  bool runs_ = false;
  std::vector<entry> entries_;
  std::unordered_set<std::string> names_;  // copies, since a name may end with its task
  std::uint64_t lost_ = 0;
};

// Returns the current time if there is a log; otherwise it avoids the cost of reading the clock.
inline trace_log::clock::time_point time_for(const trace_log* log) noexcept {
  return log != nullptr ? trace_log::clock::now() : trace_log::clock::time_point{};
}

// The traces of all workers of a place, and the file to which the destructor writes them: JSON in
// the Trace Event Format, which Perfetto and chrome://tracing read.
class trace_file {
 public:
  // Opens the file. Throws: launch_error if it cannot be written.
  trace_file(std::string path, int place, int workers);
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  ~trace_file();

  trace_log& log_of(int worker) noexcept { return *logs_[static_cast<std::size_t>(worker)]; }

 private:
  void write();

  const std::string path_;
  const int place_;
  std::ofstream to_;
  std::vector<std::unique_ptr<trace_log>> logs_;
};

}  // namespace apgas::inline v0::scheduler

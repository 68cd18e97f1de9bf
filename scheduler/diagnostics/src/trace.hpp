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

// What each worker did and when, for a viewer of traces: the tasks that its loop ran, from where
// they began or went on to where they ended or waited; and when it searched, slept, stole and
// served the network. Tasks that ran inside others have no entry of their own: that would cost more
// than they do. There only when it is asked for.
namespace apgas::inline v0::scheduler {

// Of one worker, which alone uses it while it runs.
class trace_log {
 public:
  using clock = std::chrono::steady_clock;

  struct entry {
    const char* what = nullptr;  // null: a task
    clock::time_point begin;
    clock::time_point end;
    std::source_location site;   // of a task
    const char* name = nullptr;  // of a task
    const char* then = nullptr;  // what a task waited for; null: it ended
    std::uint64_t tasks = 0;     // of a steal
  };

  // The worker goes on with a task; learns what it is called, if it had not been described or has
  // got a name, and is not one that runs inside it; and leaves it.
  void task_begins(const task_state& task) noexcept;
  void task_described(const task_state& task) noexcept;
  void task_left(const char* waits_for) noexcept;

  void add(const char* what, clock::time_point begin, std::uint64_t tasks = 0) noexcept;

  const std::vector<entry>& entries() const noexcept { return entries_; }
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  void keep(const entry& e) noexcept;

  entry running_;
  bool runs_ = false;
  std::vector<entry> entries_;
  std::unordered_set<std::string> names_;  // they may end with their tasks
  std::uint64_t lost_ = 0;
};

// The time where there is a log.
inline trace_log::clock::time_point time_for(const trace_log* log) noexcept {
  return log != nullptr ? trace_log::clock::now() : trace_log::clock::time_point{};
}

// The logs of a place's workers, and the file that they are written to when it ends: JSON in the
// Trace Event Format, which Perfetto and chrome://tracing read.
class trace_file {
 public:
  // Throws: launch_error where the file cannot be written.
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

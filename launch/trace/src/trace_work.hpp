// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include <apgas/base/own_threads.hpp>
#include <apgas/finish.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "job_trace.hpp"

namespace apgas::inline v0::launch {

// A task that does something at all places, and a thread that may wait for it.
class job_trace::work_at_places final : scheduler::external_task {
 public:
  work_at_places(job_trace& trace, void (*work)(job_trace&))
      : external_task{.run = run_task}, trace_(trace), work_(work) {}

  void start() { trace_.place_->task_scheduler->submit(this); }
  void wait() {
    const base::own_thread waits;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }
  bool is_done() {
    const std::lock_guard guard(mutex_);
    return done_;
  }
  // Why the work has failed; empty if it has not. Requires: is_done().
  const std::string& failure() const noexcept { return failure_; }

 private:
  static scheduler::task_counter* run_task(external_task* task, scheduler::fiber&) noexcept {
    auto& self = *static_cast<work_at_places*>(task);
    std::string failure;
    try {
      finish([&self, &failure] {
        try {
          self.work_(self.trace_);
        } catch (const std::exception& thrown) {
          failure = thrown.what();  // and not a list of exceptions, which tells no reason
        }
      });
    } catch (const std::exception& thrown) {
      failure = thrown.what();
    }
    const std::lock_guard guard(self.mutex_);
    self.failure_ = std::move(failure);
    self.done_ = true;
    self.changed_.notify_one();
    return nullptr;
  }

  job_trace& trace_;
  void (*const work_)(job_trace&);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
  bool done_ = false;
};

}  // namespace apgas::inline v0::launch

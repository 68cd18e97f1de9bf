// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/place_state.hpp>

// The task at place 0 whose body is the main function of a program, under the root finish. What the
// main function or a task of the root finish throws, and what futures threw unseen, is printed when
// all tasks have ended.
namespace apgas::inline v0::launch {

class root_task final : scheduler::external_task {
 public:
  // `failed` begins the line about exceptions; it and `main` must outlive the task.
  root_task(const std::function<int()>& main, const char* failed) noexcept
      : external_task{.run = run_task}, main_(main), failed_(failed) {}

  // Context: any thread, once.
  void start(sync::place_state& place);
  // Waits until the root finish has ended. Returns what main returned, or 1 after exceptions.
  // Context: a thread that is no worker.
  int wait();

 private:
  static scheduler::task_counter* run_task(external_task* work, scheduler::fiber& self) noexcept;
  void run_on(scheduler::fiber& self) noexcept;
  int run_main(scheduler::fiber& self);

  const std::function<int()>& main_;
  const char* failed_;
  sync::place_state* place_ = nullptr;

  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<int> code_;
};

}  // namespace apgas::inline v0::launch

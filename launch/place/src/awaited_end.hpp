// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include <apgas/scheduler/worker.hpp>

// The main function of a program that has none: its task is suspended, and keeps the root finish
// open, until a thread outside ends the program. The watchdog does not report that task.
namespace apgas::inline v0::launch {

class awaited_end {
 public:
  // Suspends until end() and returns its code. Context: task, once. May resume elsewhere.
  int wait_in_task();

  // Waits until wait_in_task() was called: the root finish is open. Context: any thread.
  void wait_until_open();

  // Context: any thread, once.
  void end(int code);

 private:
  void park(scheduler::fiber* task);

  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  scheduler::fiber* task_ = nullptr;
  std::optional<int> code_;
};

}  // namespace apgas::inline v0::launch

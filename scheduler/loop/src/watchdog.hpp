// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "parker.hpp"

// The watchdog: if no task has run for a given time while some tasks wait, it reports what they
// wait for, so that a program that hangs explains itself. It is a thread of its own, which exists
// only if it is requested (APGAS_WATCHDOG).
//
// It reads the fibers while it holds the lock of the idle list and all workers are in that list. No
// worker can be removed from the list in this time, so no fiber is entered or left (I3 of
// idle.hpp).
namespace apgas::inline v0::scheduler {

class watchdog {
 public:
  using report_function = std::function<void(const std::string&)>;

  // Starts the thread. It calls `report`, once for each standstill, if no task has run for
  // `patience`.
  watchdog(scheduler::implementation& watched, std::chrono::milliseconds patience,
           report_function report);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  // The scheduler has taken a fiber from the pool of stacks, or will return one.
  // Context: any thread.
  void add(fiber& f) noexcept;
  void remove(fiber& f) noexcept;

 private:
  void watch();
  std::string describe();

  scheduler::implementation& watched_;
  const std::chrono::milliseconds patience_;
  const report_function report_;
  base::spin_lock lock_;
  fiber* newest_ = nullptr;
  parker sleep_;
  std::thread thread_;
};

}  // namespace apgas::inline v0::scheduler

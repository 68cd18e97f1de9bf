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

// Says which tasks wait, and for what, when nothing runs for long: the report for a program that
// hangs. A thread of its own, there only when it is asked for.
//
// It looks at the fibers under the lock of the idle list while all workers are in it: none of them
// can be taken off meanwhile, so no fiber is entered or left (I3 of idle.hpp).
namespace apgas::inline v0::scheduler {

class watchdog {
 public:
  using report_function = std::function<void(const std::string&)>;

  watchdog(scheduler::implementation& watched, std::chrono::milliseconds patience,
           report_function report);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  // A stack that the scheduler has from now on, and one that it gives back. Context: any thread.
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

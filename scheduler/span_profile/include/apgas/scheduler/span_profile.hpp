// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include <apgas/base/cycles.hpp>
#include <apgas/scheduler/task_observer.hpp>

// The profile of work and span of a place (APGAS_PROFILE=span): what the tasks of the place
// compute, and the longest sequence of computations that depend on each other. It follows the whole
// run, and says at the end by what factor more workers could make it faster, and what bounds that
// factor.
//
// The time of a task counts while it runs. The profile stops the clock while it records; what it
// cannot see, which is how its hooks are entered and left, is measured at the start and subtracted.
// Time in which a task waits does not count, and neither does time on helper threads.
namespace apgas::inline v0::scheduler {

class span_recorder;

struct span_profile_config {
  int place = 0;
  int places = 1;
  int workers = 1;
  // The file for the report as JSON; empty: the report is printed on standard error.
  std::string file = {};
  // The clock of the thread of a worker.
  std::uint64_t (*clock)() noexcept = &base::cycles;
  // Whether another observer sees the run, too (observer_pair), whose causes are passed around.
  bool shares_run = false;
};

class span_profile {
 public:
  // Opens the file. Throws: launch_error if it cannot be written; std::bad_alloc.
  explicit span_profile(const span_profile_config& c);
  span_profile(const span_profile&) = delete;
  span_profile& operator=(const span_profile&) = delete;
  ~span_profile();

  // What the scheduler informs. It lives as long as this object, which must outlive the scheduler.
  task_observer& observer() noexcept;

  // Writes the report. To be called once, when the scheduler has ended. Warns if the file cannot be
  // written.
  void report();

 private:
  const span_profile_config config_;
  std::ofstream file_;
  std::unique_ptr<span_recorder> recorder_;
};

}  // namespace apgas::inline v0::scheduler

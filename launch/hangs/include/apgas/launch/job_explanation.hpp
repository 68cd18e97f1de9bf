// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include <apgas/base/api.hpp>

// The report of what all tasks of a job wait for, on request. place_runtime::explanation() is the
// object of a place.
namespace apgas::inline v0::launch {

class job_explanation {
 public:
  job_explanation() = default;
  job_explanation(const job_explanation&) = delete;
  job_explanation& operator=(const job_explanation&) = delete;

  // Returns what the tasks of all places wait for and what their workers run, as the report of the
  // watchdog: lines without a line feed after the last one. Works with and without APGAS_WATCHDOG;
  // only with it is known for how long tasks have been waiting. A place that has not answered
  // within `limit` is named, and the report has the rest. Empty if the run ends. Throws:
  // std::bad_alloc. Context: a thread that is no worker, at any place; several may call it at the
  // same time. Cost: each place goes through all stacks that it has ever used, about 0.2 us each,
  // while no task of it can wake; one message from each place.
  virtual std::string text(std::chrono::milliseconds limit) = 0;

 protected:
  ~job_explanation() = default;
};

}  // namespace apgas::inline v0::launch

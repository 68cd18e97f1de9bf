// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <apgas/places/place_report.hpp>
#include <apgas/sync/place_state.hpp>

// Asks all places for their statistics, for threads that are no workers.
namespace apgas::inline v0::launch {

class job_statistics {
 public:
  // `place` is that of this process, at which the task runs that asks the others.
  explicit job_statistics(sync::place_state& place);
  job_statistics(const job_statistics&) = delete;
  job_statistics& operator=(const job_statistics&) = delete;

  // Returns the reports of all places, or nothing if they have not arrived after `patience`, or if
  // an earlier call still waits for them. Context: a thread that is no worker.
  std::optional<std::vector<remote::place_report>> ask(std::chrono::milliseconds patience);
  // The same, however long it takes.
  std::vector<remote::place_report> ask();
  // Waits for a task that is still asking. Must be called before the place ends.
  void wait();

 private:
  struct question;

  std::shared_ptr<question> start();

  sync::place_state& place_;
  std::shared_ptr<question> asked_;  // null, or the last one
};

}  // namespace apgas::inline v0::launch

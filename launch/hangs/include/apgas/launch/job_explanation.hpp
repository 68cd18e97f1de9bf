// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/job_report.hpp>

// The report of what all tasks of a job wait for, on request. place_runtime::explanation() is the
// object of a place.
namespace apgas::inline v0::launch {

class job_explanation {
 public:
  job_explanation() = default;
  job_explanation(const job_explanation&) = delete;
  job_explanation& operator=(const job_explanation&) = delete;

  // `groups`: with all groups of waiting tasks, of which the text has the largest twenty; of each
  // place up to a thousand. `edges`: the edges of the wait-for graph, of which the text has twenty
  // of each construct, and the answer a thousand. They are also known while tasks run: tasks that
  // become ready while a place looks at its tasks go on afterwards.
  enum class detail : std::uint8_t { report, groups, edges };

  struct answer {
    std::string text;         // lines, without a line feed after the last one
    std::uint64_t tasks = 0;  // that wait
    std::vector<scheduler::job_report::group> groups;
    scheduler::wait_edges edges;
  };

  // Returns what the tasks of all places wait for and what their workers run, as the report of the
  // watchdog, or their edges. Works with and without APGAS_WATCHDOG;
  // without it, only for how long tasks have been waiting since an earlier report is known. A place
  // that has not answered within `limit` is named, and the report has the rest. The text is empty
  // if the run ends. Throws: std::bad_alloc. Context: a thread that is no worker, at any place;
  // several may call it at the same time. Cost: each place goes through all stacks that it has ever
  // used, about 0.2 us each, while no task of it can wake; one message from each place.
  virtual answer explain(std::chrono::milliseconds limit, detail what) = 0;

 protected:
  ~job_explanation() = default;
};

}  // namespace apgas::inline v0::launch

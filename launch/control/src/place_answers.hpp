// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <apgas/launch/job_explanation.hpp>
#include <apgas/sync/place_state.hpp>

#include "job_activity.hpp"
#include "job_trace.hpp"

// The answers of a process to the requests of tools, as JSON. They only read what the workers
// write: no task runs for them, so that a place answers also while all its workers compute or hang.
// Context of all: a thread that is no worker, while the workers of the places run.
// Throws: std::bad_alloc.
namespace apgas::inline v0::launch {

// What a process says about itself.
struct process_facts {
  std::string job;
  std::string program;  // its path
  std::string host;
  std::int64_t started = 0;  // in seconds since 1970
  int places = 1;            // of the job
  bool watchdog = false;     // whether places report by themselves that nothing runs
};

using places_of_process = std::span<const sync::place_state* const>;

// `detailed`: with the groups of waiting tasks and what each worker runs.
std::string tasks_answer(const process_facts& facts, places_of_process places, bool detailed);
// The same with the stacks of suspended tasks, as bytes in hexadecimal.
std::string stacks_answer(const process_facts& facts, places_of_process places);
// The report of all places, or the edges of their tasks.
std::string explanation_answer(const job_explanation::answer& report, job_explanation::detail what);
std::string trace_answer(const trace_status& status);
std::string activity_answer(std::span<const place_activity> places);

}  // namespace apgas::inline v0::launch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <apgas/places/place_report.hpp>
#include <apgas/sync/place_state.hpp>

// What the places of a job do at a moment, for apgas-top.
namespace apgas::inline v0::launch {

// How many workers of a place run tasks that were spawned at a line.
struct busy_site {
  std::string spawned;  // file:line or "main"; empty: unknown
  std::uint64_t workers = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(spawned, workers);
  }
};

struct place_activity {
  remote::place_report report;          // the counters since the start
  std::int32_t process = 0;             // its process id
  std::uint64_t memory_bytes = 0;       // resident memory of the process
  std::uint64_t memory_peak_bytes = 0;  // the most that it has been
  std::uint64_t queued = 0;             // spawned tasks that have not started, and resumed tasks
  std::uint64_t asleep = 0;             // workers that sleep
  std::uint64_t searching = 0;          // workers that search for work
  std::vector<busy_site> sites;         // what the other workers run, the most frequent first

  template <class Archive>
  void serialize(Archive& archive) {
    archive(report, process, memory_bytes, memory_peak_bytes, queued, asleep, searching, sites);
  }
};

// Describes a place of this process. Throws: std::bad_alloc.
// Context: any thread, while the workers of the place run.
place_activity activity_of(const sync::place_state& place);

// Describes all places, in their order. Throws: std::bad_alloc, serialization_error. Context: task;
// suspends until all places have answered.
std::vector<place_activity> activity_of_all();

}  // namespace apgas::inline v0::launch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "trace_reader.hpp"

// The records that the places of a job leave instead of its trace: the files run.json.place0,
// run.json.place1 and so on (job_trace.hpp), and the trace that is made of them.
namespace apgas::inline v0::launch {

struct left_records {
  std::vector<place_trace> places;
  std::vector<int> missing;     // places of the job that have left none in this folder
  std::vector<int> unfinished;  // and those that were killed while they wrote theirs
  int job_places = 0;
};

// Says why the trace lacks the places that have left no whole record, and what to do; empty if it
// lacks none.
std::string why_incomplete(const left_records& records, const std::string& path);

// Reads the records beside the trace `path`. Throws: bad_trace_record if there is none, or one is
// damaged.
left_records read_left_records(const std::string& path);

// Writes the trace `path`. The clocks of hosts are not compared. If the file is whole and lacks no
// place, the records are removed. Returns the lines that the user should see, and sets `written` to
// whether the file is whole. Throws: launch_error.
std::vector<std::string> write_left_records(const left_records& records, const std::string& path,
                                            bool& written);

// For the process that has started the places of a job, when all have ended: makes the trace `path`
// of the records which they have left since `begun`, and prints a line about it. Prints nothing if
// there are none, or `path` is empty.
void merge_left_records(const std::string& path,
                        std::chrono::file_clock::time_point begun) noexcept;

}  // namespace apgas::inline v0::launch

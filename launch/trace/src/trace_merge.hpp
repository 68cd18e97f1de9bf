// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace_index.hpp"
#include "trace_sink.hpp"

namespace apgas::inline v0::launch {

// Writes what the places have recorded as one trace. `clocks` has one element for each place, in
// the same order. Throws: std::bad_alloc.
void merge_traces(const std::vector<place_trace>& places, const std::vector<clock_offset>& clocks,
                  trace_sink& to);

// Returns one line for each place that has dropped events, for the user.
std::vector<std::string> dropped_events(const std::vector<place_trace>& places);

}  // namespace apgas::inline v0::launch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace_index.hpp"

namespace apgas::inline v0::launch {

// Merges what the places have recorded and writes it to `path`, in the format that its extension
// asks for. A file that is not complete is removed, to make space for the records. Returns the
// lines that the user should see: an error of the file, and what was dropped. Sets *written, unless
// `written` is null, to whether the file was written as a whole. Throws: std::bad_alloc.
std::vector<std::string> write_trace_file(const std::string& path,
                                          const std::vector<place_trace>& places,
                                          const std::vector<clock_offset>& clocks,
                                          bool* written = nullptr);

// Empties the file. Returns why it cannot be written, and what to do; empty if it can be.
std::string why_not_written(const std::string& path);

// Whether the path is that of a device or a pipe, and not a link to one.
bool is_device(const std::string& path);

// The file that place `place` leaves when the job does not end in order.
std::string record_path(const std::string& path, int place);

// The name of that file while the place writes it.
std::string unfinished_record_path(const std::string& path, int place);

}  // namespace apgas::inline v0::launch

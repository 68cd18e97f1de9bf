// SPDX-License-Identifier: Apache-2.0
#pragma once

// The program apgas-trace-merge, which makes a trace of the records that places have left
// (left_records.hpp). A process that has crashed cannot allocate memory any more, so it leaves this
// to another one.
namespace apgas::inline v0::launch {

// Looks for the program beside the library and in PATH; does nothing if it is already known.
// Context: any thread, one at a time.
void find_merge_program();

// Runs the program for the trace `path`, and waits until it has ended. It prints warnings and
// errors on standard error. Returns whether it has made the trace. Context: any thread, also in a
// handler of a signal.
bool run_merge_program(const char* path) noexcept;

}  // namespace apgas::inline v0::launch

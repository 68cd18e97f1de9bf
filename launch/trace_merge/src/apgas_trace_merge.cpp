// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "left_records.hpp"

// apgas-trace-merge run.json makes a trace of the files run.json.place0, run.json.place1, ... that
// the places of a job have left which did not end in order, or could not write its trace.
namespace {

using namespace apgas;

constexpr int usage_error = 2;

constexpr std::string_view help =
    "usage: apgas-trace-merge FILE\n"
    "\n"
    "Makes the trace FILE of the files FILE.place0, FILE.place1, ... that the places of a job\n"
    "leave if it dies, or if the trace could not be written. FILE is the value of APGAS_TRACE.\n"
    "Places on other hosts leave theirs there; copy them to this folder first. The clocks of\n"
    "different hosts are not compared. If the trace has all places, their files are removed.\n";

int merge(const std::string& path) {
  const launch::left_records records = launch::read_left_records(path);
  const std::string reason = launch::why_incomplete(records, path);
  if (!reason.empty()) fmt::print(stderr, "apgas-trace-merge: warning: {}\n", reason);
  bool written = true;
  for (const std::string& line : launch::write_left_records(records, path, written)) {
    fmt::print(stderr, "apgas-trace-merge: warning: {}\n", line);
  }
  fmt::print("{}: {} of {} places\n", path, records.places.size(), records.job_places);
  return written ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view argument = argc == 2 ? argv[1] : "";
  if (argument == "--help" || argument == "-h") {
    fmt::print("{}", help);
    return 0;
  }
  if (argument.empty() || argument.starts_with('-')) {
    fmt::print(stderr, "{}", help);
    return usage_error;
  }
  try {
    return merge(std::string(argument));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "apgas-trace-merge: {}\n", failure.what());
    return 1;
  }
}

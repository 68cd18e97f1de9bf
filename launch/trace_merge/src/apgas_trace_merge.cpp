// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <apgas/errors.hpp>

#include "trace_file.hpp"
#include "trace_reader.hpp"

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
    "different hosts are not compared.\n";

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw launch::bad_trace_record(
        fmt::format("{} cannot be read: {}", path, std::system_category().message(errno)));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

int merge(const std::string& path) {
  constexpr std::uint32_t places_most = 65536;  // trace::frame_flow() has bits for so many
  std::vector<launch::place_trace> places;
  std::vector<int> missing;
  int all = places_most;  // until a record tells
  for (int p = 0; p < all; ++p) {
    const std::string record = launch::record_path(path, p);
    if (!std::ifstream(record)) {
      missing.push_back(p);
      continue;
    }
    places.emplace_back(read_file(record), record);
    all = static_cast<int>(std::min(places.front().header().places, places_most));
  }
  if (places.empty()) read_file(launch::record_path(path, 0));  // throws, and tells the reason
  for (const int p : missing) {
    fmt::print(stderr, "apgas-trace-merge: warning: {} is missing, so the trace lacks place {}\n",
               launch::record_path(path, p), p);
  }
  const std::vector<launch::clock_offset> clocks(places.size());
  bool written = true;
  const std::vector<std::string> problems =
      launch::write_trace_file(path, places, clocks, &written);
  for (const std::string& line : problems) {
    fmt::print(stderr, "apgas-trace-merge: warning: {}\n", line);
  }
  fmt::print("{}: {} of {} places\n", path, places.size(), all);
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

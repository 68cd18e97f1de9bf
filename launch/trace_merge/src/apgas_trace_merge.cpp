// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
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
// the places of a job have left which did not end in order.
namespace {

using namespace apgas;

constexpr int usage_error = 2;

constexpr std::string_view help =
    "usage: apgas-trace-merge FILE\n"
    "\n"
    "Makes the trace FILE of the files FILE.place0, FILE.place1, ... that the places of a job\n"
    "leave if it dies. FILE is the value of APGAS_TRACE. Places on other hosts leave theirs\n"
    "there; copy them to this folder first. The clocks of different hosts are not compared.\n";

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
  std::vector<launch::place_trace> places;
  places.emplace_back(read_file(launch::record_path(path, 0)), launch::record_path(path, 0));
  const auto all = static_cast<int>(places.front().header().places);
  for (int p = 1; p < all; ++p) {
    const std::string record = launch::record_path(path, p);
    if (std::ifstream(record)) {
      places.emplace_back(read_file(record), record);
    } else {
      fmt::print(stderr, "apgas-trace-merge: warning: {} is missing, so the trace lacks place {}\n",
                 record, p);
    }
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

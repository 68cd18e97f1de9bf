// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <apgas/base/log.hpp>

#include "left_records.hpp"
#include "trace_file.hpp"

namespace apgas::inline v0::launch {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw bad_trace_record(
        fmt::format("{} cannot be read: {}", path, std::system_category().message(errno)));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Whether a place has left a record since then.
bool any_left_since(const std::string& path, fs::file_time_type begun) {
  const fs::path trace(path);
  const std::string start = trace.filename().string() + ".place";
  const fs::path folder = trace.has_parent_path() ? trace.parent_path() : fs::path(".");
  std::error_code missing;
  return std::ranges::any_of(fs::directory_iterator(folder, missing),
                             [&](const fs::directory_entry& each) {
                               std::error_code gone;
                               return each.path().filename().string().starts_with(start) &&
                                      each.last_write_time(gone) >= begun;
                             });
}

}  // namespace

left_records read_left_records(const std::string& path) {
  constexpr std::uint32_t places_most = 65536;  // trace::frame_flow() has bits for so many
  left_records records;
  records.job_places = places_most;  // until a record tells
  for (int p = 0; p < records.job_places; ++p) {
    const std::string record = record_path(path, p);
    if (!std::ifstream(record)) {
      std::error_code unknown;
      const bool begun = fs::exists(unfinished_record_path(path, p), unknown);
      (begun ? records.unfinished : records.missing).push_back(p);
      continue;
    }
    records.places.emplace_back(read_file(record), record);
    records.job_places =
        static_cast<int>(std::min(records.places.front().header().places, places_most));
  }
  if (!records.places.empty()) return records;
  records.missing.clear();  // the number of places is unknown
  if (records.unfinished.empty()) read_file(record_path(path, 0));  // throws, and tells the reason
  throw bad_trace_record(why_incomplete(records, path));
}

std::string why_incomplete(const left_records& records, const std::string& path) {
  std::vector<std::string> reasons;
  if (!records.missing.empty()) {
    reasons.push_back(fmt::format(
        "nothing is here of place {}, which was killed or ran on another host: in the latter case "
        "copy its record here and call apgas-trace-merge {}",
        fmt::join(records.missing, ", "), path));
  }
  if (!records.unfinished.empty()) {
    reasons.push_back(fmt::format(
        "killed while it wrote its record: place {}; give places more time, with Open MPI for "
        "example by OMPI_MCA_odls_base_sigkill_timeout=10",
        fmt::join(records.unfinished, ", ")));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

std::vector<std::string> write_left_records(const left_records& records, const std::string& path,
                                            bool& written) {
  const std::vector<clock_offset> clocks(records.places.size());
  std::vector<std::string> lines = write_trace_file(path, records.places, clocks, &written);
  if (written && records.missing.empty() && records.unfinished.empty()) {
    for (const place_trace& each : records.places) unlink(record_path(path, each.place()).c_str());
  }
  return lines;
}

void merge_left_records(const std::string& path, fs::file_time_type begun) noexcept {
  try {
    if (path.empty() || !any_left_since(path, begun)) return;
    const left_records records = read_left_records(path);
    bool written = true;
    for (const std::string& line : write_left_records(records, path, written)) base::warn(line);
    if (!written) return;
    std::string line = fmt::format("the trace {} has what {} of {} places did", path,
                                   records.places.size(), records.job_places);
    const std::string reason = why_incomplete(records, path);
    if (!reason.empty()) line += "; " + reason;
    base::print_line(line);
  } catch (const std::exception& failure) {
    base::warn(fmt::format("there is no trace of all places: {}", failure.what()));
  }
}

}  // namespace apgas::inline v0::launch

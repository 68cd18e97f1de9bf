// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apgas/errors.hpp>

#include "trace_file.hpp"
#include "trace_merge.hpp"
#include "trace_writer.hpp"

namespace apgas::inline v0::launch {

namespace {

std::string refusal(int error) {
  return fmt::format(
      "that file cannot be written ({}); name one in a folder that exists and may be written at "
      "place 0",
      std::system_category().message(error));
}

// Gives back what an incomplete trace takes. A link to its file, or to a device, remains.
void make_space(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
  if (truncate(path.c_str(), 0) != 0) return;
  if (lstat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) std::remove(path.c_str());
}

}  // namespace

std::string why_not_written(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return refusal(errno);
  std::fclose(file);
  return {};
}

bool is_device(const std::string& path) {
  struct stat found{};
  return lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISLNK(found.st_mode);
}

trace_stream::trace_stream(const std::string& path) : file_(std::fopen(path.c_str(), "wbe")) {
  if (file_ != nullptr) return;
  throw launch_error(fmt::format("{}: {}", path, refusal(errno)));
}

trace_stream::~trace_stream() { close(); }

void trace_stream::write(const char* bytes, std::size_t n) noexcept {
  if (file_ == nullptr || error_ != 0 || n == 0) return;
  if (std::fwrite(bytes, 1, n, file_) != n) error_ = errno;
}

int trace_stream::close() noexcept {
  if (file_ == nullptr) return error_;
  if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  file_ = nullptr;
  return error_;
}

std::vector<std::string> write_trace_file(const std::string& path,
                                          const std::vector<place_trace>& places,
                                          const std::vector<clock_offset>& clocks, bool* written) {
  trace_stream file(path);
  merge_traces(places, clocks, *make_trace_writer(path, file));
  std::vector<std::string> lines;
  const int error = file.close();
  if (written != nullptr) *written = error == 0;
  if (error != 0) {
    make_space(path);
    lines.push_back(fmt::format("the trace {} is not complete: it could not be written ({})", path,
                                std::system_category().message(error)));
  }
  for (std::string& line : dropped_events(places)) lines.push_back(std::move(line));
  return lines;
}

std::string record_path(const std::string& path, int place) {
  return fmt::format("{}.place{}", path, place);
}

std::string unfinished_record_path(const std::string& path, int place) {
  return record_path(path, place) + ".unfinished";
}

}  // namespace apgas::inline v0::launch

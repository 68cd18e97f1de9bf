// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "job_messages.hpp"

namespace apgas::inline v0::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view messages_of_an_end[] = {"ended by signal", "ended unexpectedly",
                                                   "sent no heartbeat", "this ends the job",
                                                   "stack overflow in task"};
constexpr std::size_t longest_line = 4096;  // that is looked at
constexpr auto patience = 2s;

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

bool tells_the_end(const std::string& line) {
  if (line.find("apgas: ") == std::string::npos) return false;
  return std::ranges::any_of(messages_of_an_end, [&line](std::string_view each) {
    return line.find(each) != std::string::npos;
  });
}

std::string full_output() {
  for (const auto& [number, name] :
       {std::pair{STDOUT_FILENO, "output"}, {STDERR_FILENO, "error"}}) {
    struct stat file = {};
    struct statvfs disk = {};
    if (fstat(number, &file) != 0 || !S_ISREG(file.st_mode) || fstatvfs(number, &disk) != 0) {
      continue;
    }
    if ((geteuid() == 0 ? disk.f_bfree : disk.f_bavail) == 0) return name;
  }
  return {};
}

job_messages::job_messages(int source) : source_(source) {
  fcntl(source, F_SETFL, fcntl(source, F_GETFL) | O_NONBLOCK);
}

job_messages::~job_messages() {
  if (source_ >= 0) close(source_);
}

void job_messages::hand_on() {
  char bytes[4096];
  while (source_ >= 0) {
    const ssize_t n = read(source_, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      close(std::exchange(source_, -1));
      return;
    }
    write_all({bytes, static_cast<std::size_t>(n)});
    look_at(bytes, bytes + n);
  }
}

void job_messages::look_at(const char* begin, const char* end) {
  for (; begin != end; ++begin) {
    if (*begin != '\n') {
      if (line_.size() < longest_line) line_ += *begin;
      continue;
    }
    told_ = told_ || tells_the_end(line_);
    line_.clear();
  }
}

void job_messages::finish() {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (source_ >= 0 && std::chrono::steady_clock::now() < deadline) {
    pollfd wait{source_, POLLIN, 0};
    if (poll(&wait, 1, 50) > 0) hand_on();
  }
}

}  // namespace apgas::inline v0::launch

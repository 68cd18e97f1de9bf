// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/log.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <sys/uio.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::base {

namespace {

std::size_t total_bytes(std::span<const std::string_view> parts) noexcept {
  std::size_t n = 0;
  for (const std::string_view part : parts) n += part.size();
  return n;
}

void remove_first(std::span<std::string_view> parts, std::size_t bytes) noexcept {
  for (std::string_view& part : parts) {
    const std::size_t of_this = std::min(bytes, part.size());
    part.remove_prefix(of_this);
    bytes -= of_this;
  }
}

}  // namespace

// A process without memory prints its exit reason here, so nothing but the context is allocated.
void print_line(std::string_view text) {
  const std::string context = current_context();
  std::array<std::string_view, 5> parts = {"apgas: ", context, context.empty() ? "" : ": ", text,
                                           "\n"};
  for (std::size_t left = total_bytes(parts); left != 0;) {
    std::array<iovec, parts.size()> vectors;
    std::ranges::transform(parts, vectors.begin(), [](std::string_view part) {
      return iovec{.iov_base = const_cast<char*>(part.data()), .iov_len = part.size()};
    });
    const ssize_t written = writev(STDERR_FILENO, vectors.data(), static_cast<int>(parts.size()));
    if (written <= 0) return;
    left -= static_cast<std::size_t>(written);
    remove_first(parts, static_cast<std::size_t>(written));
  }
}

void info(std::string_view text) { print_line(text); }

void warn(std::string_view text) { print_line(std::string("warning: ").append(text)); }

}  // namespace apgas::inline v0::base

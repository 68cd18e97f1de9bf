// SPDX-License-Identifier: Apache-2.0
#pragma once

// A line of text that can be composed and printed in a signal handler: it allocates nothing and
// calls only async-signal-safe functions. Text beyond 1023 characters is cut off, but a printed
// line always ends in a newline.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace apgas::inline v0::base {

// Context: any thread, signal handlers.
class safe_line {
 public:
  // Appends a text or a decimal number.
  safe_line& operator<<(std::string_view text) noexcept {
    const std::size_t n = std::min(text.size(), sizeof(text_) - 1 - used_);
    std::memcpy(text_ + used_, text.data(), n);
    used_ += n;
    return *this;
  }
  safe_line& operator<<(const char* text) noexcept { return *this << std::string_view(text); }
  safe_line& operator<<(std::uint64_t number) noexcept {
    char digits[21];
    char* p = digits + sizeof(digits) - 1;
    *p = 0;
    do {
      *--p = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << p;
  }
  std::string_view text() const noexcept { return {text_, used_}; }
  // Writes the line to standard error with one system call.
  void print() noexcept {
    text_[used_] = '\n';
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text_, used_ + 1);
  }

 private:
  char text_[1024];
  std::size_t used_ = 0;
};

}  // namespace apgas::inline v0::base

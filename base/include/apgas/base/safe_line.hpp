// SPDX-License-Identifier: Apache-2.0
#pragma once

// A line put together without anything that is unsafe in a signal handler. What does not fit is cut
// off, but not the end of the line.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <unistd.h>

namespace apgas::inline v0::base {

class safe_line {
 public:
  safe_line& operator<<(const char* text) noexcept {
    const std::size_t n = std::min(std::strlen(text), sizeof(text_) - 1 - used_);
    std::memcpy(text_ + used_, text, n);
    used_ += n;
    return *this;
  }
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
  // By one call, to standard error.
  void print() noexcept {
    text_[used_] = '\n';
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text_, used_ + 1);
  }

 private:
  char text_[1024];
  std::size_t used_ = 0;
};

}  // namespace apgas::inline v0::base

// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/log.hpp>

#include <string>

#include <unistd.h>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::base {

void print_line(std::string_view text) {
  std::string line = "apgas: ";
  if (auto context = current_context(); !context.empty()) line += context + ": ";
  line.append(text).append("\n");
  std::string_view rest = line;
  while (!rest.empty()) {
    ssize_t written = write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void info(std::string_view text) { print_line(text); }

void warn(std::string_view text) { print_line(std::string("warning: ").append(text)); }

}  // namespace apgas::inline v0::base

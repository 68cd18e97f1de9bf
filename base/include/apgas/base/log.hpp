// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages to the user: lines of the form `apgas: <context>: text` on standard error. Each line is
// written by one system call, so that the lines of several places do not mix. Nothing is printed in
// normal operation.

#include <string_view>

namespace apgas::inline v0::base {

// Prints a line; warn puts "warning: " before the text. Context: any thread. Cost: a system call.
void info(std::string_view text);
void warn(std::string_view text);

// Prints `apgas: <context>: text`, the common form of the two functions above and of fatal errors.
// The context is that of assert.hpp. Context: any thread. Cost: a system call.
void print_line(std::string_view text);

}  // namespace apgas::inline v0::base

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lines for the user on standard error: `apgas: <context>: text`. Each is written by one call, so
// that lines of several places do not mix. Nothing is printed in normal operation.

#include <string_view>

namespace apgas::inline v0::base {

// Context: any thread. Cost: a system call.
void info(std::string_view text);
void warn(std::string_view text);  // with "warning: " before the text

// `apgas: <context>: text`, the form of the two above and of fatal errors.
void print_line(std::string_view text);

}  // namespace apgas::inline v0::base

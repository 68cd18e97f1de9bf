// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Names of tasks, paths and host names are bytes of the program or of the system. Formats such as
// JSON allow only UTF-8.
namespace apgas::inline v0::base {

// Returns `text` if it is valid UTF-8. Otherwise stores a copy in which U+FFFD stands for each byte
// that does not belong to a valid character, and returns that. Throws: std::bad_alloc.
std::string_view as_utf8(std::string_view text, std::string& storage);

}  // namespace apgas::inline v0::base

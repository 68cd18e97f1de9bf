// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Finds programs that the library starts, such as mpirun.
namespace apgas::inline v0::base {

// Whether `path` is a file that this process may execute, or a link to one. Throws: std::bad_alloc.
// Context: any thread.
bool is_program(const std::string& path);

// Returns the path of `program` in the first folder of PATH that has it as a program; empty if none
// has. An empty entry of PATH, which for a shell means the current folder, is left out, so that a
// file that lies there by chance is not started. Throws: std::bad_alloc. Context: any thread, while
// none changes the environment.
std::string find_program(std::string_view program);

}  // namespace apgas::inline v0::base

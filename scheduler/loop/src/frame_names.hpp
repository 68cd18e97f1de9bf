// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The functions of a stack, for reports: from the tables of symbols in the files of the program and
// its libraries, without the lines of the source.
namespace apgas::inline v0::scheduler {

struct frame_names {
  // The innermost function of the program that has a name, which the stubs through which libraries
  // are called have not; the innermost one if none has. Empty if there is none: the program is in
  // the body of a task, which the compiler has put into a function of this library.
  std::string innermost;
  // From the innermost on, without the functions of this library, to the outermost one of the
  // program.
  std::vector<std::string> frames;
};

// Names the functions that contain the addresses; a function without a symbol appears as its file
// and the offset in it. Returns at most `most` frames. Throws: std::bad_alloc.
// Context: any thread. Cost: reads the symbols of the files, some milliseconds.
frame_names names_of(const std::vector<std::uintptr_t>& addresses, std::size_t most);

// Returns the function that contains the address, with the file and the offset in it, such as
// "solve_row (the program+0x12ab)"; empty if it is a function of this library or of the system.
// Throws: std::bad_alloc. Context: any thread. Cost: reads the symbols of a file.
std::string function_of_program(std::uintptr_t address);

// The name of a function in the source, without its parameters.
std::string function_name(const std::string& symbol);

}  // namespace apgas::inline v0::scheduler

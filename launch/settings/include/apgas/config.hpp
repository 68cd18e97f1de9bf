// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

// Default settings that a program chooses itself.
namespace apgas::inline v0 {

// Argument of apgas::run. A member that is zero or empty stands for the usual default. Environment
// variables override all members; apgas-info prints them.
//
//   int main(int argc, char** argv) {
//     apgas::config settings;
//     settings.workers = 2;
//     settings.more["APGAS_IDLE"] = "100";
//     return apgas::run(argc, argv, settings, [] { work(); });
//   }
struct config {
  int places = 0;               // 0: one place, or as many as the launcher started
  int workers = 0;              // of each place; 0: one for each core that the place may use
  std::string transport = {};   // "ucx", "mpi" or "local"; empty: ucx if possible, else mpi
  std::size_t stack_bytes = 0;  // size of the stack of a task; 0: 1 MiB
  // All other settings, by the names of their variables.
  std::map<std::string, std::string> more = {};
  // Of a runtime, ignored by run: at places other than 0 the constructor serves until place 0 ends
  // the program, and then ends the process with its code (runtime.hpp).
  bool serve_and_exit = false;
};

// The code that apgas::run returns if the program could not be started.
inline constexpr int exit_code_not_started = 2;

}  // namespace apgas::inline v0

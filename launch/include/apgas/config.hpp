// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

// The settings a program can choose for itself. The environment wins (apgas-info lists it).
namespace apgas::inline v0 {

struct config {
  int places = 0;               // 0: one, or as many as the launcher started
  int workers = 0;              // per place; 0: the cores this place may use
  std::string transport = {};   // "mpi", "local"; empty: mpi under a launcher
  std::size_t stack_bytes = 0;  // of a task; 0: 1 MiB
  // The other settings by the name of their variable: {{"APGAS_IDLE", "100"}, {"APGAS_STATS",
  // "1"}}.
  std::map<std::string, std::string> more = {};
  // Of a runtime, ignored by run: at places other than 0 the constructor serves until place 0 ends
  // the program, and then ends the process with its code (runtime.hpp).
  bool serve_and_exit = false;
};

}  // namespace apgas::inline v0

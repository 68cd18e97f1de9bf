// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The edges of the wait-for graph of a job as a list for its user: which tasks wait in which
// construct, and which tasks they await. Equal edges of a place are one entry, however many there
// are, so a program has few entries.
namespace apgas::inline v0::scheduler {

struct wait_edge {
  // The tasks that wait.
  std::uint64_t tasks = 0;
  std::string construct;  // "finish"
  std::string where;      // the line of the call; may be empty
  std::string task;       // name and spawn site
  int place = 0;
  std::string object;  // "phase 7 of the clock made at solve.cpp:4"; may be empty

  // The tasks that they await; 0: it is not known which tasks these are.
  std::uint64_t awaited_tasks = 0;
  std::string relation;           // of each of these tasks to the object, as "has locked it"
  std::string awaited_task;       // name and spawn site
  std::string awaited_construct;  // in which they wait; empty: they run
  std::string awaited_where;
  int awaited_place = 0;
  std::vector<int> absent;  // or the places of a team that have not made the call

  std::string text;  // all of it as a line
};

struct wait_edges {
  // Sorted by construct; of each construct, those for which most tasks wait come first.
  std::vector<wait_edge> edges;
  // How many more edges there are of a construct of which the list does not have all.
  struct rest {
    std::string construct;
    std::size_t edges = 0;
  };
  std::vector<rest> left_out;
};

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path.hpp"

// What a profile of work and span has found, as text for people and as JSON for machines.
namespace apgas::inline v0::scheduler {

// The tasks that were spawned at a site.
struct spawn_site_row {
  std::string site;      // such as "solver.cpp:88", or a name
  bool is_line = false;  // whether it is a line of the program
  std::uint64_t tasks = 0;
  span_ticks work = 0;
  span_ticks longest = 0;  // of the tasks, without what they waited for
  span_ticks on_path = 0;
  // On the path that is the longest if scheduling takes time: in these tasks and their scheduling,
  // and of that in their scheduling.
  span_ticks on_burdened_path = 0;
  span_ticks burden = 0;
};

// The finishes, or the joins of fork_join and loops, at a line.
struct finish_row {
  std::string site;  // such as "finish at solver.cpp:88"
  std::uint64_t times = 0;
  span_ticks on_path = 0;  // directly in them, not in finishes inside them
  // Of the one with the most work: the work of its tasks, and how much it adds to the critical
  // path.
  span_ticks largest_work = 0;
  span_ticks largest_span = 0;
};

struct span_summary {
  int places = 1;
  int workers = 1;  // of all places
  double seconds_per_tick = 1e-9;
  span_ticks work = 0;
  span_ticks span = 0;
  span_ticks burdened_span = 0;
  std::uint64_t tasks = 0;
  std::vector<spawn_site_row> by_spawn_site;
  std::vector<finish_row> by_finish;
};

// The work divided by the span: no number of workers makes the run faster by a larger factor.
double parallelism(span_ticks work, span_ticks span) noexcept;

// The least and the greatest factor by which `workers` make the run faster than one. A scheduler
// that never lets a worker idle while a task is ready takes at most work / workers + span; the
// least factor is that of this bound, with the burdened span.
struct speed_up {
  double least = 1;
  double most = 1;
};
speed_up expected_speed_up(const span_summary& s, int workers) noexcept;

// Returns the lines of the report, each ended by a line feed.
std::string span_table(const span_summary& s);
// Says what bounds the speed-up, such as "speed-up bounded by 3.1: finish at solver.cpp:88 (...)",
// and which tasks are too short to be shared if scheduling is most of the burdened span.
std::string span_sentence(const span_summary& s);

// Returns the same as a JSON object. Times are in seconds.
std::string span_json(const span_summary& s);

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that a user can set, as values. The defaults are here. Names, units, limits and help
// are in the table of option.hpp, which also reads the values from the environment. An object of
// this type is made when a place starts, and does not change afterwards.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace apgas::inline v0::base {

enum class transport_choice {
  automatic,  // under a launcher shared memory within a host, if possible, and UCX between hosts,
              // or MPI where UCX cannot be used; none for a single place
  shm,        // the same, but shared memory within a host must be possible
  ucx,
  mpi,
  local,  // several places in one process
};

enum class bind_choice {
  automatic,  // each worker to a core of its own, unless there are more workers than cores
  core,
  none,
};

// What is done about a deadlock; automatic: abort if a watchdog is set, else off.
enum class deadlock_choice { automatic, abort, report, off };

enum class progress_choice {
  workers,  // workers poll the network between tasks
  thread,   // in addition, a dedicated thread waits for the network
};

enum class one_sided_choice {
  direct,    // loads and stores, or RDMA, where the memory of the other place is accessible
  messages,  // every access is a message to the other place
};

// Of which tasks a trace has slices.
enum class trace_detail_choice {
  all,
  stolen,  // not of tasks that the frame which spawned them runs itself
};

struct settings {
  int places = 0;   // 0: not set; one place unless a launcher sets the number
  int workers = 0;  // of each place; 0: not set; one for each core of the place
  transport_choice transport = transport_choice::automatic;
  std::size_t stack_bytes = std::size_t{1} << 20;  // of a task
  bind_choice bind = bind_choice::automatic;       // of worker threads to cores
  int idle_us = 20;                                // a worker searches this long before it sleeps
  progress_choice progress = progress_choice::workers;
  int finish_tree_places = 64;  // a finish uses tree return if there are at least so many places
  one_sided_choice one_sided = one_sided_choice::direct;
  int team_warning_s = 10;  // warn if collectives of two teams wait for each other; 0: never
  int heartbeat_s = 10;     // a place without a heartbeat for so long has failed; 0: never
  int watchdog_s = 0;       // report what tasks wait for if none ran for so long; 0: never
  // What is done if no task of the program can ever run again. By default the process ends if a
  // watchdog is set.
  deadlock_choice deadlock = deadlock_choice::automatic;
  bool control = true;  // tools of the same user can look at the running program
  // The seed of the schedule: the places of one process then run in turns that it determines.
  std::optional<std::uint64_t> seed;
  std::string interface;   // where place 0 listens to other hosts; empty: chosen automatically
  bool stats = false;      // print the hosts of the places, and statistics at the end
  std::string stats_file;  // the file to which the statistics are written; empty: none
  std::string metrics;     // where place 0 serves them: [address:]port; empty: nowhere
  std::string trace;       // the file to which the trace is written; empty: none
  trace_detail_choice trace_detail = trace_detail_choice::all;
  std::size_t trace_bytes = std::size_t{64} << 20;  // of each worker; then the oldest are dropped
  bool trail = false;      // print the last events of each worker if the place dies
  std::string trail_file;  // the file to which more are written; empty: a temporary one
  bool profile_span = false;
  std::string profile_file;  // the file for the profile; empty: it is printed

  // Bytes of tasks that a place may send to another one ahead of their start; then senders wait.
  std::size_t task_window_bytes = std::size_t{8} << 20;
  // Small messages to the same place share a buffer of batch_bytes. None waits in it for longer
  // than batch_delay_us. Senders wait while more than send_queue_bytes to their destination are
  // unsent.
  std::size_t batch_bytes = std::size_t{16} << 10;
  int batch_delay_us = 50;
  std::size_t send_queue_bytes = std::size_t{64} << 20;
};

}  // namespace apgas::inline v0::base

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the user can set, as values. The defaults are here; names, units, limits and help are in
// the table of option.hpp, which also reads them from the environment. One object is made when a
// place starts and does not change afterwards.

#include <cstddef>
#include <string>

namespace apgas::inline v0::base {

enum class transport_choice {
  automatic,  // under a launcher ucx, or mpi where that cannot be used; none for a single place
  ucx,
  mpi,
  local,
};

enum class bind_choice {
  automatic,  // to a core each, unless there are more workers than cores
  core,
  none,
};

enum class progress_choice {
  workers,  // between tasks
  thread,   // one that sleeps on the network, too
};

enum class one_sided_choice {
  direct,    // where a place reaches the memory of another one
  messages,  // all accesses go there
};

struct settings {
  int places = 0;   // 0: not set, one place unless a launcher says otherwise
  int workers = 0;  // per place; 0: not set, one for each core of the place
  transport_choice transport = transport_choice::automatic;
  std::size_t stack_bytes = std::size_t{1} << 20;  // of a task
  bind_choice bind = bind_choice::automatic;       // worker threads to cores
  int idle_us = 20;                                // a worker searches this long before it sleeps
  progress_choice progress = progress_choice::workers;  // who looks at the network
  int finish_tree_places = 64;  // so many places or more: a finish is counted along a tree
  one_sided_choice one_sided = one_sided_choice::direct;  // how memory of others is reached
  int team_warning_s = 10;  // teams whose members wait for each other so long; 0: nothing is said
  int heartbeat_s = 10;     // a place that gives no sign of life for so long is gone; 0: never
  int watchdog_s = 0;       // a place where nothing runs so long says which tasks wait; 0: never
  std::string interface;    // where place 0 listens to other hosts; empty: chosen
  bool stats = false;       // print counters at the end
  std::string trace;        // file for what the workers did; empty: none

  // Bytes of tasks that a place sends to another before that has started them; their senders wait.
  std::size_t task_window_bytes = std::size_t{8} << 20;
  // Small messages to a place share a buffer of batch_bytes, none waits in it longer than the
  // delay. Senders wait when more than send_queue_bytes are unsent to their destination.
  std::size_t batch_bytes = std::size_t{16} << 10;
  int batch_delay_us = 50;
  std::size_t send_queue_bytes = std::size_t{64} << 20;
};

}  // namespace apgas::inline v0::base

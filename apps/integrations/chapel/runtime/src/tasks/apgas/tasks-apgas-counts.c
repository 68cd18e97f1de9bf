/* SPDX-License-Identifier: Apache-2.0 */
// How many tasks there are, of which kind. Each worker counts events on its own cache lines, so the
// sums are exact only while nothing happens.

#include <apgas/c.h>

// clang-format off
#include "chplrt.h"  // comes first
// clang-format on
#include "tasks-apgas-local.h"

enum { slots = 256, line_bytes = 128 };

// The events of one worker, or of several if there are more workers than slots. Threads that run no
// task count in slot 0.
static union {
  uint64_t of[chpl_apgas_events];
  char line[line_bytes];
} counts[slots];

void chpl_apgas_count(enum chpl_apgas_event event) {
  const int worker = apgas_worker();
  const int slot = worker < 0 ? 0 : worker % slots;
  __atomic_add_fetch(&counts[slot].of[event], 1, __ATOMIC_RELEASE);
}

static uint64_t sum(enum chpl_apgas_event event) {
  uint64_t all = 0;
  for (int i = 0; i < slots; ++i) all += __atomic_load_n(&counts[i].of[event], __ATOMIC_ACQUIRE);
  return all;
}

// Returns how often `first` has happened without `second`. The second event is read first, so that
// the result is not negative.
static uint64_t between(enum chpl_apgas_event first, enum chpl_apgas_event second) {
  const uint64_t passed = sum(second);
  return sum(first) - passed;
}

uint64_t chpl_apgas_unfinished_tasks(void) { return between(chpl_apgas_created, chpl_apgas_ended); }

uint32_t chpl_task_getMaxPar(void) {
  const int workers = apgas_workers();
  return workers < 1 ? 1 : (uint32_t)workers;
}

c_sublocid_t chpl_task_getNumSublocales(void) { return 0; }

uint32_t chpl_task_getNumQueuedTasks(void) {
  return (uint32_t)between(chpl_apgas_created, chpl_apgas_started);
}

uint32_t chpl_task_getNumRunningTasks(void) {
  return (uint32_t)between(chpl_apgas_started, chpl_apgas_ended);
}

int32_t chpl_task_getNumBlockedTasks(void) {
  return (int32_t)between(chpl_apgas_blocked, chpl_apgas_unblocked);
}

uint32_t chpl_task_getNumThreads(void) { return chpl_task_getMaxPar(); }

// An estimate: every task that could run keeps a worker busy.
uint32_t chpl_task_getNumIdleThreads(void) {
  const uint32_t workers = chpl_task_getNumThreads();
  const uint64_t blocked = between(chpl_apgas_blocked, chpl_apgas_unblocked);
  const uint64_t unfinished = chpl_apgas_unfinished_tasks();
  const uint64_t ready = unfinished > blocked ? unfinished - blocked : 0;
  return ready >= workers ? 0 : workers - (uint32_t)ready;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_APGAS_LOCAL_H
#define TASKS_APGAS_LOCAL_H

// What the files of the tasking layer share.

#include <stddef.h>
#include <stdint.h>

#include "chpl-tasks.h"

// -- State, in tasks-apgas-state.c ----------------------------------------------------------------

// What belongs to a task, or to a thread that runs no task.
typedef struct {
  chpl_task_bundle_t* bundle;
  chpl_task_prvData_t private_data;
} chpl_apgas_state;

// Returns the state of the calling task, or of the calling thread if it runs no task.
chpl_apgas_state* chpl_apgas_current(void);

// Gives the calling task a state, and returns the one it had, or null.
chpl_apgas_state* chpl_apgas_exchange_state(chpl_apgas_state* state);

// Returns a new number for a task or a thread.
chpl_taskID_t chpl_apgas_next_id(void);

// -- Counts, in tasks-apgas-counts.c --------------------------------------------------------------

enum chpl_apgas_event {
  chpl_apgas_created,
  chpl_apgas_started,
  chpl_apgas_ended,
  chpl_apgas_blocked,
  chpl_apgas_unblocked,
  chpl_apgas_events
};

// Counts an event. Context: any thread.
void chpl_apgas_count(enum chpl_apgas_event event);

// Returns the number of tasks that have not ended.
uint64_t chpl_apgas_unfinished_tasks(void);

// -- Tasks, in tasks-apgas.c ----------------------------------------------------------------------

// Runs a task; `block` is its own copy of its bundle. The type is that of apgas_spawn.
void chpl_apgas_run_task(void* block);

// Ends the program with a message if the code says that a function of apgas/c.h has failed.
void chpl_apgas_check(int code, const char* what);

// -- Threads that run no task, in tasks-apgas-threads.c -------------------------------------------

// Begins a task on behalf of a thread that runs no task, and does not wait for it. The bundle is
// copied.
void chpl_apgas_begin_from_thread(const chpl_task_bundle_t* bundle, size_t bytes);

// Ends the threads that chpl_apgas_begin_from_thread has started. Waits for their tasks.
void chpl_apgas_end_threads(void);

#endif

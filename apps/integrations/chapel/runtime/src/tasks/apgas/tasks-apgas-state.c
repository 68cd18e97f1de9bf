/* SPDX-License-Identifier: Apache-2.0 */
// What belongs to a task: its number, its serial state and its private data; and how a task lets
// others run. A task keeps the address of its state in its pointer (apgas_task_pointer), a thread
// that runs no task in thread-specific data.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include <apgas/c.h>

// clang-format off
#include "chplrt.h"  // comes first
// clang-format on
#include "chpl-linefile-support.h"
#include "chpl-mem.h"
#include "error.h"
#include "tasks-apgas-local.h"

// A state with a bundle of its own.
typedef struct {
  chpl_apgas_state state;
  chpl_task_bundle_t bundle;
} whole_state;

chpl_taskID_t chpl_apgas_next_id(void) {
  static chpl_taskID_t last = chpl_nullTaskID;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static chpl_apgas_state* make_state(void) {
  whole_state* const made = chpl_mem_calloc(1, sizeof *made, CHPL_RT_MD_THREAD_PRV_DATA, 0, 0);
  made->state.bundle = &made->bundle;
  made->bundle.filename = CHPL_FILE_IDX_UNKNOWN;
  made->bundle.requestedSubloc = c_sublocid_any;
  made->bundle.requested_fid = -1;
  made->bundle.id = chpl_apgas_next_id();
  return &made->state;
}

static pthread_key_t state_key;

static void free_state(void* state) { chpl_mem_free(state, 0, 0); }

static void make_key(void) {
  if (pthread_key_create(&state_key, free_state) != 0)
    chpl_internal_error("CHPL_TASKS=apgas: pthread_key_create failed");
}

static chpl_apgas_state* state_of_thread(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_key);
  chpl_apgas_state* state = pthread_getspecific(state_key);
  if (state == NULL) {
    state = make_state();
    if (pthread_setspecific(state_key, state) != 0)
      chpl_internal_error("CHPL_TASKS=apgas: pthread_setspecific failed");
  }
  return state;
}

chpl_apgas_state* chpl_apgas_current(void) {
  void** const own = apgas_task_pointer();
  if (own == NULL) return state_of_thread();
  // A task that the program has begun by apgas/c.h itself. Its state is never freed.
  if (*own == NULL) *own = make_state();
  return *own;
}

chpl_apgas_state* chpl_apgas_exchange_state(chpl_apgas_state* state) {
  void** const own = apgas_task_pointer();
  if (own == NULL) {
    chpl_internal_error("CHPL_TASKS=apgas: no memory for a task");
    return NULL;
  }
  chpl_apgas_state* const before = *own;
  *own = state;
  return before;
}

// -- The number of a task -------------------------------------------------------------------------

chpl_taskID_t chpl_task_getId(void) { return chpl_apgas_current()->bundle->id; }

chpl_bool chpl_task_idEquals(chpl_taskID_t id1, chpl_taskID_t id2) { return id1 == id2; }

char* chpl_task_idToString(char* buff, size_t size, chpl_taskID_t id) {
  const int length = snprintf(buff, size, "%" PRIu64, id);
  return length > 0 && (size_t)length < size ? buff : NULL;
}

// -- Serial state and private data ----------------------------------------------------------------

chpl_bool chpl_task_getSerial(void) { return chpl_apgas_current()->bundle->serial_state; }

void chpl_task_setSerial(chpl_bool state) { chpl_apgas_current()->bundle->serial_state = state; }

chpl_task_prvData_t* chpl_task_getPrvData(void) { return &chpl_apgas_current()->private_data; }

// -- Letting others run ---------------------------------------------------------------------------

void chpl_task_yield(void) {
  if (apgas_yield() == APGAS_ENOTASK) sched_yield();
}

void chpl_task_sleep(double secs) {
  const double longest = 1e9;  // 31 years, for infinity
  if (!(secs > 0)) {
    chpl_task_yield();
    return;
  }
  if (secs > longest) secs = longest;
  const int code = apgas_sleep(secs);
  if (code == APGAS_ENOTASK) {
    struct timespec left;
    left.tv_sec = (time_t)secs;
    left.tv_nsec = (long)((secs - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0) continue;
  } else {
    chpl_apgas_check(code, "a task cannot sleep");
  }
}

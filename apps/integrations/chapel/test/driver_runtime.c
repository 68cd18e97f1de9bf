/* SPDX-License-Identifier: Apache-2.0 */
// Stands in for Chapel's runtime and for the code that Chapel's compiler makes of parallel
// constructs and of sync variables.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chpl-mem.h"
#include "chpl-tasks-callbacks-internal.h"
#include "driver.h"
#include "error.h"

void check(int holds, const char* text, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: not true: %s\n", file, line, text);
  fflush(stderr);
  _exit(1);
}

// -- Parallel constructs --------------------------------------------------------------------------

enum { functions_max = 64 };
chpl_fn_p chpl_ftable[functions_max];

chpl_fn_int_t number_of(chpl_fn_p f) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  int n = 0;
  while (chpl_ftable[n] != NULL && chpl_ftable[n] != f) ++n;
  CHECK(n < functions_max - 1);
  if (chpl_ftable[n] == NULL) chpl_ftable[n] = f;
  pthread_mutex_unlock(&lock);
  return (chpl_fn_int_t)n;
}

void begin(chpl_fn_p f, void* bundle, size_t bytes) {
  void* list = NULL;
  chpl_task_addToTaskList(number_of(f), bundle, bytes, c_sublocid_any, &list, 0, true, 12, 3);
}

void more_tasks(end_count* count, int64_t n) { add(&count->left, n); }

void task_ends(end_count* count) { add(&count->left, -1); }

void wait_by_yields(end_count* count) {
  while (load(&count->left) != 0) chpl_task_yield();
}

void begin_numbers(int64_t n, chpl_fn_p f, void* shared, end_count* ends) {
  void* list = NULL;
  small_bundle bundle;  // used again for each task
  more_tasks(ends, n);
  for (int64_t i = 0; i < n; ++i) {
    memset(&bundle, 0, sizeof bundle);
    bundle.ends = ends;
    bundle.shared = shared;
    bundle.number = i;
    chpl_task_addToTaskList(number_of(f), &bundle.head, sizeof bundle, c_sublocid_any, &list, 0,
                            false, 12, 3);
  }
  memset(&bundle, 0xff, sizeof bundle);
  chpl_task_executeTasksInList(&list);
}

void coforall(int64_t n, chpl_fn_p f, void* shared) {
  end_count ends = {0};
  begin_numbers(n, f, shared, &ends);
  wait_by_yields(&ends);
}

// -- Sync variables -------------------------------------------------------------------------------

void sync_init(sync_int* s) {
  s->value = 0;
  chpl_sync_initAux(&s->aux);
}

void sync_destroy(sync_int* s) { chpl_sync_destroyAux(&s->aux); }

void write_ef(sync_int* s, int64_t value) {
  chpl_sync_waitEmptyAndLock(&s->aux, 1, 1);
  s->value = value;
  chpl_sync_markAndSignalFull(&s->aux);
}

int64_t read_fe(sync_int* s) {
  chpl_sync_waitFullAndLock(&s->aux, 1, 1);
  const int64_t value = s->value;
  chpl_sync_markAndSignalEmpty(&s->aux);
  return value;
}

int64_t read_ff(sync_int* s) {
  chpl_sync_waitFullAndLock(&s->aux, 1, 1);
  const int64_t value = s->value;
  chpl_sync_markAndSignalFull(&s->aux);
  return value;
}

// -- The rest of Chapel's runtime -----------------------------------------------------------------

int64_t load(const int64_t* from) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }
void store(int64_t* to, int64_t value) { __atomic_store_n(to, value, __ATOMIC_SEQ_CST); }
int64_t add(int64_t* to, int64_t value) { return __atomic_add_fetch(to, value, __ATOMIC_SEQ_CST); }

int64_t running_count = 0;
int64_t callbacks[chpl_task_cb_num_event_kinds] = {0};
int64_t allocations = 0;

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void chpl_taskRunningCntInc(int64_t lineno, int32_t filename) {
  (void)lineno;
  (void)filename;
  add(&running_count, 1);
}

void chpl_taskRunningCntDec(int64_t lineno, int32_t filename) {
  (void)lineno;
  (void)filename;
  add(&running_count, -1);
}

void chpl_task_do_callbacks(chpl_task_cb_event_kind_t event, chpl_fn_int_t fid, int32_t filename,
                            int lineno, uint64_t id, int is_executeOn) {
  CHECK(id != 0 && fid >= 0);
  CHECK(is_executeOn ? filename <= 4 : filename == 3 && lineno == 12);
  add(&callbacks[event], 1);
}

void chpl_internal_error(const char* message) {
  fprintf(stderr, "internal error: %s\n", message);
  _exit(1);
}

int32_t chpl_task_getenvNumThreadsPerLocale(void) {
  const char* const set = getenv("CHPL_RT_NUM_THREADS_PER_LOCALE");
  return set == NULL ? 0 : (int32_t)strtol(set, NULL, 10);
}

size_t chpl_task_getEnvCallStackSize(void) {
  const char* const set = getenv("CHPL_RT_CALL_STACK_SIZE");
  return set == NULL ? 0 : (size_t)strtoul(set, NULL, 10);
}

size_t chpl_task_getDefaultCallStackSize(void) { return (size_t)8 << 20; }

void* chpl_mem_alloc(size_t bytes, int use, int32_t lineno, int32_t filename) {
  return chpl_mem_calloc(1, bytes, use, lineno, filename);
}

void* chpl_mem_calloc(size_t number, size_t bytes, int use, int32_t lineno, int32_t filename) {
  CHECK(use == CHPL_RT_MD_THREAD_PRV_DATA && lineno == 0 && filename == 0);
  void* const memory = calloc(number, bytes);
  CHECK(memory != NULL);
  add(&allocations, 1);
  return memory;
}

void chpl_mem_free(void* memory, int32_t lineno, int32_t filename) {
  CHECK(lineno == 0 && filename == 0);
  add(&allocations, -1);
  free(memory);
}

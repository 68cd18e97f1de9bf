/* SPDX-License-Identifier: Apache-2.0 */
// Threads that run no task: the communication task, which is such a thread, and tasks that begin on
// behalf of one, as when the communication layer receives the body of an on statement.
//
// Only a task can spawn, and the thread must not wait until a worker has time. So the new tasks go
// through a queue to two threads, which start when they are first needed:
//
//   any thread ─queue─▶ carrier: runs a short task ─channel─▶ owner: a task that spawns
//
// The carrier waits for its short task only. The new tasks belong to the finish of the owner, which
// lasts until chpl_task_exit.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <string.h>

#include <apgas/c.h>

// clang-format off
#include "chplrt.h"  // comes first
// clang-format on
#include "chpl-mem.h"
#include "error.h"
#include "tasks-apgas-local.h"

// A task that is to begin. Its bundle follows at bundle_offset.
typedef struct waiting_task {
  struct waiting_task* next;
  size_t bytes;
} waiting_task;

enum { bundle_offset = 32 };  // a multiple of the largest alignment

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static waiting_task* queue_first = NULL;  // these four under queue_lock
static waiting_task** queue_end = &queue_first;
static int threads_run = 0;
static int threads_end = 0;

static pthread_t carrier;
static pthread_t owner;

static apgas_sync_t channel;  // full while there is a batch for the owner
static waiting_task* batch;   // null: the end

static void begin_batch(waiting_task* first) {
  while (first != NULL) {
    waiting_task* const next = first->next;
    chpl_apgas_check(apgas_spawn(chpl_apgas_run_task, (char*)first + bundle_offset, first->bytes),
                     "a task cannot begin");
    chpl_mem_free(first, 0, 0);
    first = next;
  }
}

static void begin_batches(void* unused) {
  (void)unused;
  for (;;) {
    chpl_apgas_check(apgas_sync_wait_full_lock(channel), "tasks of threads");
    waiting_task* const first = batch;
    chpl_apgas_check(apgas_sync_set_empty_unlock(channel), "tasks of threads");
    if (first == NULL) return;
    begin_batch(first);
  }
}

static void* run_owner(void* unused) {
  chpl_apgas_check(apgas_run(begin_batches, NULL), "tasks of threads");
  return unused;
}

static void send_batch(void* first) {
  chpl_apgas_check(apgas_sync_wait_empty_lock(channel), "tasks of threads");
  batch = first;
  chpl_apgas_check(apgas_sync_set_full_unlock(channel), "tasks of threads");
}

static void* run_carrier(void* unused) {
  waiting_task* first = NULL;
  do {
    pthread_mutex_lock(&queue_lock);
    while (queue_first == NULL && !threads_end) pthread_cond_wait(&queue_changed, &queue_lock);
    first = queue_first;  // null at the end, when all have been sent
    queue_first = NULL;
    queue_end = &queue_first;
    pthread_mutex_unlock(&queue_lock);
    chpl_apgas_check(apgas_run(send_batch, first), "tasks of threads");
  } while (first != NULL);
  return unused;
}

void chpl_apgas_begin_from_thread(const chpl_task_bundle_t* bundle, size_t bytes) {
  waiting_task* const task =
      chpl_mem_alloc(bundle_offset + bytes, CHPL_RT_MD_THREAD_PRV_DATA, 0, 0);
  task->next = NULL;
  task->bytes = bytes;
  memcpy((char*)task + bundle_offset, bundle, bytes);

  pthread_mutex_lock(&queue_lock);
  if (!threads_run) {
    threads_run = 1;
    chpl_apgas_check(apgas_sync_create(&channel), "tasks of threads");
    if (pthread_create(&owner, NULL, run_owner, NULL) != 0 ||
        pthread_create(&carrier, NULL, run_carrier, NULL) != 0)
      chpl_internal_error("CHPL_TASKS=apgas: there is no thread for the tasks of threads");
  }
  *queue_end = task;
  queue_end = &task->next;
  pthread_cond_signal(&queue_changed);
  pthread_mutex_unlock(&queue_lock);
}

void chpl_apgas_end_threads(void) {
  pthread_mutex_lock(&queue_lock);
  const int run = threads_run;
  threads_end = 1;
  pthread_cond_signal(&queue_changed);
  pthread_mutex_unlock(&queue_lock);
  if (run) {
    pthread_join(carrier, NULL);
    pthread_join(owner, NULL);
    chpl_apgas_check(apgas_sync_destroy(channel), "tasks of threads");
  }
  threads_run = threads_end = 0;
}

// -- The communication task -----------------------------------------------------------------------

struct comm_task {
  chpl_fn_p fn;
  void* arg;
};

static void* run_comm_task(void* of) {
  const struct comm_task task = *(struct comm_task*)of;
  chpl_mem_free(of, 0, 0);
  task.fn(task.arg);
  return NULL;
}

int chpl_task_createCommTask(chpl_fn_p fn, void* arg) {
  struct comm_task* const task = chpl_mem_alloc(sizeof *task, CHPL_RT_MD_THREAD_PRV_DATA, 0, 0);
  task->fn = fn;
  task->arg = arg;
  pthread_t thread;
  const int code = pthread_create(&thread, NULL, run_comm_task, task);
  if (code == 0)
    pthread_detach(thread);
  else
    chpl_mem_free(task, 0, 0);
  return code;
}

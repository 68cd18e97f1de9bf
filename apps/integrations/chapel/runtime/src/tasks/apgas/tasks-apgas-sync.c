/* SPDX-License-Identifier: Apache-2.0 */
// Sync and single variables. A task that waits is suspended, so any number of tasks may wait on any
// number of workers; tasks that wait for the same state proceed first come first served.

#include <apgas/c.h>

// clang-format off
#include "chplrt.h"  // comes first
// clang-format on
#include "tasks-apgas-local.h"

typedef int (*operation)(apgas_sync_t);

// An operation on behalf of a thread that runs no task. A task may unlock what another has locked.
struct call {
  operation op;
  apgas_sync_t sync;
  int code;
};

static void operate_in_task(void* of) {
  struct call* const call = of;
  call->code = call->op(call->sync);
}

static void operate(operation op, const chpl_sync_aux_t* s, const char* what) {
  int code = op(s->sync);
  if (code == APGAS_ENOTASK) {
    struct call call = {op, s->sync, 0};
    code = apgas_run(operate_in_task, &call);
    if (code == 0) code = call.code;
  }
  chpl_apgas_check(code, what);
}

// Waits for a state, and counts the task as blocked if the variable does not have it.
static void wait_for(int wanted, operation op, const chpl_sync_aux_t* s) {
  int full = 0;
  chpl_apgas_check(apgas_sync_is_full(s->sync, &full), "a sync variable");
  const int blocks = full != wanted;
  if (blocks) chpl_apgas_count(chpl_apgas_blocked);
  operate(op, s, "waiting for a sync variable");
  if (blocks) chpl_apgas_count(chpl_apgas_unblocked);
}

void chpl_sync_initAux(chpl_sync_aux_t* s) {
  chpl_apgas_check(apgas_sync_create(&s->sync), "a new sync variable");
}

void chpl_sync_destroyAux(chpl_sync_aux_t* s) {
  // A variable that is still in use is kept, so that the tasks which use it can go on.
  (void)apgas_sync_destroy(s->sync);
  s->sync = NULL;
}

void chpl_sync_lock(chpl_sync_aux_t* s) { operate(apgas_sync_lock, s, "locking a sync variable"); }

void chpl_sync_unlock(chpl_sync_aux_t* s) {
  operate(apgas_sync_unlock, s, "unlocking a sync variable");
}

void chpl_sync_waitFullAndLock(chpl_sync_aux_t* s, int32_t lineno, int32_t filename) {
  (void)lineno;
  (void)filename;
  wait_for(1, apgas_sync_wait_full_lock, s);
}

void chpl_sync_waitEmptyAndLock(chpl_sync_aux_t* s, int32_t lineno, int32_t filename) {
  (void)lineno;
  (void)filename;
  wait_for(0, apgas_sync_wait_empty_lock, s);
}

void chpl_sync_markAndSignalFull(chpl_sync_aux_t* s) {
  operate(apgas_sync_set_full_unlock, s, "filling a sync variable");
}

void chpl_sync_markAndSignalEmpty(chpl_sync_aux_t* s) {
  operate(apgas_sync_set_empty_unlock, s, "emptying a sync variable");
}

chpl_bool chpl_sync_isFull(void* val_ptr, chpl_sync_aux_t* s) {
  (void)val_ptr;
  int full = 0;
  chpl_apgas_check(apgas_sync_is_full(s->sync, &full), "a sync variable");
  return full != 0;
}

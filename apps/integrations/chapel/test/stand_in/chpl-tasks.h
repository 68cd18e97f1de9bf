/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPL_TASKS_H
#define STAND_IN_CHPL_TASKS_H

// The tasking interface of Chapel 1.15, written from its description: what a tasking layer provides
// and what it may call. This stands in for Chapel's header of the same name in the tests.

#include "chpl-tasks-prvdata.h"
#include "chplcgfns.h"
#include "chpltypes.h"
#include CHPL_TASKS_MODEL_H

// Sync variables. Line and file are those of the operation in the Chapel program.
void chpl_sync_initAux(chpl_sync_aux_t* s);
void chpl_sync_destroyAux(chpl_sync_aux_t* s);
void chpl_sync_lock(chpl_sync_aux_t* s);
void chpl_sync_unlock(chpl_sync_aux_t* s);
void chpl_sync_waitFullAndLock(chpl_sync_aux_t* s, int32_t lineno, int32_t filename);
void chpl_sync_waitEmptyAndLock(chpl_sync_aux_t* s, int32_t lineno, int32_t filename);
void chpl_sync_markAndSignalFull(chpl_sync_aux_t* s);
void chpl_sync_markAndSignalEmpty(chpl_sync_aux_t* s);
chpl_bool chpl_sync_isFull(void* val_ptr, chpl_sync_aux_t* s);

// The program.
void chpl_task_init(void);
void chpl_task_exit(void);
void chpl_task_callMain(void (*chpl_main)(void));
int chpl_task_createCommTask(chpl_fn_p fn, void* arg);

// Tasks. The layer copies the bundles.
void chpl_task_addToTaskList(chpl_fn_int_t fid, chpl_task_bundle_t* arg, size_t arg_size,
                             c_sublocid_t subloc, void** p_task_list, c_nodeid_t task_list_locale,
                             chpl_bool is_begin_stmt, int lineno, int32_t filename);
void chpl_task_executeTasksInList(void** p_task_list);
void chpl_task_taskCallFTable(chpl_fn_int_t fid, chpl_task_bundle_t* arg, size_t arg_size,
                              c_sublocid_t subloc, int lineno, int32_t filename);
void chpl_task_startMovedTask(chpl_fn_int_t fid, chpl_fn_p fp, chpl_task_bundle_t* arg,
                              size_t arg_size, c_sublocid_t subloc, chpl_taskID_t id,
                              chpl_bool serial_state);

// The calling task.
chpl_taskID_t chpl_task_getId(void);
chpl_bool chpl_task_idEquals(chpl_taskID_t id1, chpl_taskID_t id2);
char* chpl_task_idToString(char* buff, size_t size, chpl_taskID_t id);
void chpl_task_yield(void);
void chpl_task_sleep(double secs);
chpl_bool chpl_task_getSerial(void);
void chpl_task_setSerial(chpl_bool state);
chpl_task_prvData_t* chpl_task_getPrvData(void);

// The locale.
uint32_t chpl_task_getMaxPar(void);
c_sublocid_t chpl_task_getNumSublocales(void);
size_t chpl_task_getCallStackSize(void);
uint32_t chpl_task_getNumQueuedTasks(void);
uint32_t chpl_task_getNumRunningTasks(void);
int32_t chpl_task_getNumBlockedTasks(void);
uint32_t chpl_task_getNumThreads(void);
uint32_t chpl_task_getNumIdleThreads(void);

// What Chapel provides: settings of the environment (0: none), and the number of running tasks that
// the module code keeps.
int32_t chpl_task_getenvNumThreadsPerLocale(void);
size_t chpl_task_getEnvCallStackSize(void);
size_t chpl_task_getDefaultCallStackSize(void);
void chpl_taskRunningCntInc(int64_t lineno, int32_t filename);
void chpl_taskRunningCntDec(int64_t lineno, int32_t filename);

#endif

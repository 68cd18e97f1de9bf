/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_APGAS_H
#define TASKS_APGAS_H

// What Chapel's runtime and compiled Chapel programs know of the tasking layer CHPL_TASKS=apgas.
// chpl-tasks.h of Chapel includes this file, after the types which it uses. The names are those of
// Chapel's tasking interface.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The number of a task. No other task of the process has or had it.
typedef uint64_t chpl_taskID_t;
#define chpl_nullTaskID 0
#ifndef CHPL_TASK_ID_STRING_MAX_LEN
#define CHPL_TASK_ID_STRING_MAX_LEN 21  // the digits of the largest number, and the null character
#endif

// The beginning of every argument bundle, which belongs to the tasking layer.
typedef struct {
  chpl_bool serial_state;  // the task runs what it begins itself
  chpl_bool countRunning;  // counts in the number of running tasks that the module code keeps
  chpl_bool is_executeOn;  // the body of an on statement
  int lineno;
  int filename;
  c_sublocid_t requestedSubloc;
  chpl_fn_int_t requested_fid;
  chpl_fn_p requested_fn;
  chpl_taskID_t id;
} chpl_task_bundle_t;

// A sync or single variable, beside its value.
struct apgas_sync;
typedef struct {
  struct apgas_sync* sync;
} chpl_sync_aux_t;

// The communication layer may let other tasks run while it polls.
#define CHPL_COMM_YIELD_TASK_WHILE_POLLING
void chpl_task_yield(void);

// The module code is initialized, so that it can count tasks.
#define CHPL_TASK_STD_MODULES_INITIALIZED chpl_task_stdModulesInitialized
void chpl_task_stdModulesInitialized(void);

// A task may continue on another thread, and the cache of remote data needs tasks that do not.
#define CHPL_TASK_SUPPORTS_REMOTE_CACHE_IMPL_DECL 1
static inline int chpl_task_supportsRemoteCache(void) { return 0; }

// There are no sublocales.
#define CHPL_TASK_GETSUBLOC_IMPL_DECL 1
static inline c_sublocid_t chpl_task_getSubloc(void) { return 0; }
#define CHPL_TASK_SETSUBLOC_IMPL_DECL 1
static inline void chpl_task_setSubloc(c_sublocid_t subloc) { (void)subloc; }
#define CHPL_TASK_GETREQUESTEDSUBLOC_IMPL_DECL 1
static inline c_sublocid_t chpl_task_getRequestedSubloc(void) { return c_sublocid_any; }

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
// The tasking layer CHPL_TASKS=apgas: its start and its end, and how tasks begin and run.
//
// A task of Chapel is a task of the runtime (apgas_spawn) with its bundle as its block, so the
// bundle is copied once. A task begins when it is added to a list. So there is nothing left to do
// in chpl_task_executeTasksInList.

#include <stdio.h>

#include <apgas/c.h>

// clang-format off
#include "chplrt.h"  // comes first
// clang-format on
#include "chpl-linefile-support.h"
#include "chpl-tasks-callbacks-internal.h"
#include "chplcgfns.h"
#include "error.h"
#include "tasks-apgas-local.h"

static int started = 0;
static size_t stack_bytes = 0;

// Whether the module code can count running tasks.
static volatile int counts_running = 0;

void chpl_apgas_check(int code, const char* what) {
  if (code >= 0) return;
  char message[200];
  snprintf(message, sizeof message, "CHPL_TASKS=apgas: %s: %s", what, apgas_strerror(code));
  chpl_internal_error(message);
}

// -- Start and end --------------------------------------------------------------------------------

void chpl_task_init(void) {
  const size_t largest_default = (size_t)8 << 20;
  const size_t least = (size_t)64 << 10;  // of this runtime; that of fifo is 16 KiB
  stack_bytes = chpl_task_getEnvCallStackSize();
  if (stack_bytes == 0) stack_bytes = chpl_task_getDefaultCallStackSize();
  if (stack_bytes == 0 || (chpl_task_getEnvCallStackSize() == 0 && stack_bytes > largest_default))
    stack_bytes = largest_default;
  if (stack_bytes < least) stack_bytes = least;

  // Chapel's communication layer connects the locales. To the runtime each of them is a program of
  // one place, also under mpirun.
  apgas_config config = APGAS_CONFIG_INIT;
  config.places = 1;
  config.transport = "local";
  config.workers = chpl_task_getenvNumThreadsPerLocale();
  config.stack_bytes = stack_bytes;
  chpl_apgas_check(apgas_start(&config), "the runtime does not start");
  if (apgas_places() != 1)
    chpl_internal_error("CHPL_TASKS=apgas: APGAS_PLACES must not be set, or be 1");
  started = 1;
  chpl_apgas_current();  // the calling thread has a state from now on
}

void chpl_task_exit(void) {
  // A task that ends the program, as halt() does, cannot wait for the workers, and tasks that never
  // end must not hinder the end of the program. The workers then end with the process.
  if (!started || apgas_task_pointer() != NULL || chpl_apgas_unfinished_tasks() != 0) return;
  started = 0;
  chpl_apgas_end_threads();
  chpl_apgas_check(apgas_stop(), "the runtime does not stop");
}

struct main_call {
  void (*chpl_main)(void);
  chpl_apgas_state* state;
};

// Runs main with the state of the thread that calls chpl_task_callMain, because to Chapel both are
// the main task.
static void run_main(void* of) {
  const struct main_call* const call = of;
  chpl_apgas_state* const outer = chpl_apgas_exchange_state(call->state);
  chpl_apgas_count(chpl_apgas_created);
  chpl_apgas_count(chpl_apgas_started);
  call->chpl_main();
  chpl_apgas_count(chpl_apgas_ended);
  chpl_apgas_exchange_state(outer);
}

void chpl_task_callMain(void (*chpl_main)(void)) {
  struct main_call call = {chpl_main, chpl_apgas_current()};
  chpl_apgas_check(apgas_run(run_main, &call), "main failed");
}

void chpl_task_stdModulesInitialized(void) {
  counts_running = 1;
  chpl_taskRunningCntInc(0, 0);  // the main task
}

// -- Tasks ----------------------------------------------------------------------------------------

static void call_back(chpl_task_cb_event_kind_t event, const chpl_task_bundle_t* bundle) {
  chpl_task_do_callbacks(event, bundle->requested_fid, bundle->filename, bundle->lineno, bundle->id,
                         bundle->is_executeOn);
}

void chpl_apgas_run_task(void* block) {
  chpl_apgas_state state = {0};
  state.bundle = block;
  chpl_apgas_exchange_state(&state);
  chpl_apgas_count(chpl_apgas_started);
  if (state.bundle->countRunning) chpl_taskRunningCntInc(0, 0);
  call_back(chpl_task_cb_event_kind_begin, state.bundle);
  state.bundle->requested_fn(block);
  call_back(chpl_task_cb_event_kind_end, state.bundle);
  if (state.bundle->countRunning) chpl_taskRunningCntDec(0, 0);
  chpl_apgas_count(chpl_apgas_ended);
}

// Begins a task. The bundle has a complete head, except for the number of a new task.
static void begin_task(chpl_task_bundle_t* bundle, size_t bytes) {
  if (bundle->id == chpl_nullTaskID) bundle->id = chpl_apgas_next_id();
  call_back(chpl_task_cb_event_kind_create, bundle);
  chpl_apgas_count(chpl_apgas_created);
  const int code = apgas_spawn(chpl_apgas_run_task, bundle, bytes);
  if (code == APGAS_ENOTASK)
    chpl_apgas_begin_from_thread(bundle, bytes);
  else
    chpl_apgas_check(code, "a task cannot begin");
}

void chpl_task_addToTaskList(chpl_fn_int_t fid, chpl_task_bundle_t* arg, size_t arg_size,
                             c_sublocid_t subloc, void** p_task_list, int32_t task_list_locale,
                             chpl_bool is_begin_stmt, int lineno, int32_t filename) {
  (void)p_task_list;
  (void)task_list_locale;
  (void)is_begin_stmt;
  chpl_task_bundle_t* const caller = chpl_apgas_current()->bundle;
  if (caller->serial_state) {
    chpl_ftable[fid](arg);
    caller->serial_state = 1;  // what the function sets belongs to the task it would have been
    return;
  }
  arg->serial_state = 0;
  arg->countRunning = 0;  // compiled code counts these tasks itself
  arg->is_executeOn = 0;
  arg->lineno = lineno;
  arg->filename = filename;
  arg->requestedSubloc = subloc;
  arg->requested_fid = fid;
  arg->requested_fn = chpl_ftable[fid];
  arg->id = chpl_nullTaskID;
  begin_task(arg, arg_size);
}

void chpl_task_executeTasksInList(void** p_task_list) { (void)p_task_list; }

// Begins a task that continues another one, as the body of an on statement.
static void continue_as_task(chpl_fn_int_t fid, chpl_fn_p fn, chpl_task_bundle_t* arg,
                             size_t arg_size, c_sublocid_t subloc, chpl_taskID_t id,
                             chpl_bool serial_state, int lineno, int32_t filename) {
  arg->serial_state = serial_state;
  arg->countRunning = counts_running != 0;
  arg->is_executeOn = 1;
  arg->lineno = lineno;
  arg->filename = filename;
  arg->requestedSubloc = subloc;
  arg->requested_fid = fid;
  arg->requested_fn = fn;
  arg->id = id;
  begin_task(arg, arg_size);
}

void chpl_task_taskCallFTable(chpl_fn_int_t fid, chpl_task_bundle_t* arg, size_t arg_size,
                              c_sublocid_t subloc, int lineno, int32_t filename) {
  continue_as_task(fid, chpl_ftable[fid], arg, arg_size, subloc, chpl_nullTaskID,
                   chpl_task_getSerial(), lineno, filename);
}

void chpl_task_startMovedTask(chpl_fn_int_t fid, chpl_fn_p fp, chpl_task_bundle_t* arg,
                              size_t arg_size, c_sublocid_t subloc, chpl_taskID_t id,
                              chpl_bool serial_state) {
  continue_as_task(fid, fp, arg, arg_size, subloc, id, serial_state, 0, CHPL_FILE_IDX_UNKNOWN);
}

size_t chpl_task_getCallStackSize(void) { return stack_bytes; }

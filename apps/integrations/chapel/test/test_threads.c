/* SPDX-License-Identifier: Apache-2.0 */
// The numbers of tasks, moved tasks, and threads that run no task.
#include <string.h>

#include "driver.h"

// -- Counts ---------------------------------------------------------------------------------------

enum { some = 10 };

static void wait_full(void* of) {
  small_bundle* const bundle = of;
  CHECK(read_ff(bundle->shared) == 1);
  task_ends(bundle->ends);
}

static void continue_elsewhere(chpl_fn_p f, void* shared, end_count* ends) {
  more_tasks(ends, 1);
  small_bundle bundle = {.ends = ends, .shared = shared};
  chpl_task_taskCallFTable(number_of(f), &bundle.head, sizeof bundle, c_sublocid_any, 7, 4);
  memset(&bundle, 0xff, sizeof bundle);
}

void test_counts(void) {
  CHECK(running_count == 1);  // the main task
  // The last tasks of an earlier test may still be ending.
  while (chpl_task_getNumRunningTasks() != 1) chpl_task_yield();
  CHECK(chpl_task_getNumThreads() == chpl_task_getMaxPar());
  const size_t stack = chpl_task_getEnvCallStackSize();
  CHECK(chpl_task_getCallStackSize() == (stack != 0 ? stack : (size_t)8 << 20));

  sync_int s;
  sync_init(&s);
  end_count ends = {0};
  begin_numbers(some, wait_full, &s, &ends);
  if (chpl_task_getMaxPar() == 1) {
    CHECK(chpl_task_getNumQueuedTasks() == some);
    CHECK(chpl_task_getNumRunningTasks() == 1);
  }
  while (chpl_task_getNumBlockedTasks() != some) chpl_task_yield();
  CHECK(chpl_task_getNumQueuedTasks() == 0);
  CHECK(chpl_task_getNumRunningTasks() == some + 1);  // also those that wait
  CHECK(chpl_task_getNumIdleThreads() == chpl_task_getMaxPar() - 1);
  CHECK(load(&running_count) == 1);  // compiled code counts the tasks of begin, cobegin, coforall

  for (int i = 0; i < some; ++i) continue_elsewhere(wait_full, &s, &ends);
  while (chpl_task_getNumBlockedTasks() != 2 * some) chpl_task_yield();
  CHECK(load(&running_count) == some + 1);
  write_ef(&s, 1);
  wait_by_yields(&ends);
  while (chpl_task_getNumRunningTasks() != 1) chpl_task_yield();
  CHECK(load(&running_count) == 1);
  CHECK(chpl_task_getNumBlockedTasks() == 0);
  sync_destroy(&s);
}

// -- Moved tasks ----------------------------------------------------------------------------------

static const chpl_taskID_t given_id = UINT64_C(1) << 40;

static void check_moved(void* of) {
  small_bundle* const bundle = of;
  CHECK(bundle->head.is_executeOn);
  CHECK(chpl_task_getSerial() == (bundle->number == 1));
  const chpl_taskID_t id = chpl_task_getId();
  CHECK(bundle->number == 2 ? id == given_id : id != given_id && id != chpl_nullTaskID);
  task_ends(bundle->ends);
}

static void start_moved(chpl_fn_p f, small_bundle* bundle, chpl_taskID_t id, chpl_bool serial) {
  more_tasks(bundle->ends, 1);
  chpl_task_startMovedTask(number_of(f), f, &bundle->head, sizeof *bundle, c_sublocid_any, id,
                           serial);
}

static void expect_serial(void* of) {
  small_bundle* const bundle = of;
  CHECK(chpl_task_getSerial());
  task_ends(bundle->ends);
}

void test_moved_tasks(void) {
  end_count ends = {0};
  small_bundle bundle = {.ends = &ends, .number = 0};
  start_moved(check_moved, &bundle, chpl_nullTaskID, false);
  bundle.number = 1;
  start_moved(check_moved, &bundle, chpl_nullTaskID, true);
  bundle.number = 2;
  start_moved(check_moved, &bundle, given_id, false);
  memset(&bundle, 0xff, sizeof bundle);
  wait_by_yields(&ends);

  // The body of an on statement of a serial task is serial.
  chpl_task_setSerial(true);
  continue_elsewhere(expect_serial, NULL, &ends);
  chpl_task_setSerial(false);
  wait_by_yields(&ends);
}

// -- Threads that run no task ---------------------------------------------------------------------

static sync_int to_thread;
static sync_int from_thread;
static int64_t thread_started_task = 0;
static int64_t thread_ends = 0;
static chpl_taskID_t main_id;

static void add_number(void* of) {
  small_bundle* const bundle = of;
  CHECK(chpl_task_getId() == bundle->head.id);
  chpl_task_yield();
  add(bundle->shared, bundle->number);
  task_ends(bundle->ends);
}

static void wait_for_thread(void* of) {
  small_bundle* const bundle = of;
  write_ef(&to_thread, read_fe(&from_thread));
  task_ends(bundle->ends);
}

static void comm_task(void* arg) {
  CHECK(arg == &thread_ends);
  const chpl_taskID_t id = chpl_task_getId();
  CHECK(id != chpl_nullTaskID && id != main_id && id == chpl_task_getId());
  chpl_task_prvData_t* const data = chpl_task_getPrvData();
  CHECK(data->comm_data[3] == 0);
  data->comm_data[3] = 5;

  // It begins a task while every worker is busy, and is not held up.
  int64_t sum = 0;
  end_count ends = {0};
  small_bundle bundle = {.ends = &ends, .shared = &sum, .number = 1};
  start_moved(add_number, &bundle, chpl_nullTaskID, false);
  store(&thread_started_task, 1);
  wait_by_yields(&ends);
  CHECK(sum == 1);

  // Many tasks; the buffer is used again. Some of them need the thread to go on.
  more_tasks(&ends, 1);
  chpl_task_startMovedTask(number_of(wait_for_thread), wait_for_thread, &bundle.head, sizeof bundle,
                           c_sublocid_any, chpl_nullTaskID, false);
  for (int64_t i = 0; i < 1000; ++i) {
    bundle.number = i;
    start_moved(add_number, &bundle, chpl_nullTaskID, false);
  }
  memset(&bundle, 0xff, sizeof bundle);
  write_ef(&from_thread, 9);
  CHECK(read_fe(&to_thread) == 9);
  wait_by_yields(&ends);
  CHECK(sum == 1 + 999 * 1000 / 2);

  CHECK(!chpl_task_getSerial());
  chpl_task_sleep(0.001);
  CHECK(chpl_task_getPrvData() == data && data->comm_data[3] == 5);
  store(&thread_ends, 1);
}

// Keeps a worker busy until the thread has begun its first task.
static void be_busy(void* of) {
  small_bundle* const bundle = of;
  while (load(&thread_started_task) == 0) continue;
  task_ends(bundle->ends);
}

void test_threads(void) {
  sync_init(&to_thread);
  sync_init(&from_thread);
  main_id = chpl_task_getId();
  const uint32_t workers = chpl_task_getMaxPar();
  end_count busy = {0};
  begin_numbers(workers - 1, be_busy, NULL, &busy);
  while (chpl_task_getNumQueuedTasks() != 0) continue;  // the others run them
  CHECK(chpl_task_createCommTask(comm_task, &thread_ends) == 0);
  while (load(&thread_started_task) == 0) continue;
  wait_by_yields(&busy);
  while (load(&thread_ends) == 0) chpl_task_yield();
  sync_destroy(&to_thread);
  sync_destroy(&from_thread);
}

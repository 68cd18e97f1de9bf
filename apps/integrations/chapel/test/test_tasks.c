/* SPDX-License-Identifier: Apache-2.0 */
// Argument bundles, parallel constructs, what belongs to a task, and the main task.
#include <stdlib.h>
#include <string.h>

#include "driver.h"

// -- Bundles --------------------------------------------------------------------------------------

enum { large_bytes = 100000 };

typedef struct {
  chpl_task_bundle_t head;
  end_count* ends;
  int64_t* sum;
  unsigned char bytes[large_bytes];
} large_bundle;

static void check_large(void* of) {
  large_bundle* const bundle = of;
  CHECK((uintptr_t)of % sizeof(long double) == 0);
  chpl_task_yield();
  for (int i = 1; i < large_bytes; ++i) CHECK(bundle->bytes[i] == bundle->bytes[0]);
  add(bundle->sum, bundle->bytes[0]);
  memset(bundle->bytes, 0, sizeof bundle->bytes);  // its own
  task_ends(bundle->ends);
}

static void add_number(void* of) {
  small_bundle* const bundle = of;
  add(bundle->shared, bundle->number);
  task_ends(bundle->ends);
}

static int64_t heads_seen = 0;
static chpl_taskID_t head_ids[2];

static void check_head(void* of) {
  const chpl_task_bundle_t* const head = of;
  CHECK(head->requested_fn == check_head);
  CHECK(head->requested_fid == number_of(check_head));
  CHECK(head->lineno == 12 && head->filename == 3);
  CHECK(!head->is_executeOn && !head->countRunning && !head->serial_state);
  CHECK(head->requestedSubloc == c_sublocid_any);
  CHECK(head->id == chpl_task_getId());
  static int64_t next = 0;
  head_ids[add(&next, 1) - 1] = head->id;
  add(&heads_seen, 1);
}

void test_bundles(void) {
  int64_t sum = 0;
  coforall(1000, add_number, &sum);
  CHECK(sum == 999 * 1000 / 2);

  static large_bundle bundle;
  end_count ends = {0};
  sum = 0;
  for (int i = 1; i <= 50; ++i) {
    bundle.ends = &ends;
    bundle.sum = &sum;
    memset(bundle.bytes, i, sizeof bundle.bytes);
    more_tasks(&ends, 1);
    begin(check_large, &bundle, sizeof bundle);
  }
  memset(&bundle, 0xff, sizeof bundle);
  wait_by_yields(&ends);
  CHECK(sum == 50 * 51 / 2);

  chpl_task_bundle_t head;
  memset(&head, 0xff, sizeof head);
  begin(check_head, &head, sizeof head);
  begin(check_head, &head, sizeof head);  // as the layer has left it
  while (load(&heads_seen) != 2) chpl_task_yield();
  CHECK(head_ids[0] != head_ids[1]);
}

// -- Constructs -----------------------------------------------------------------------------------

// A cobegin in each task of a tree.
static void count_leaves(void* of) {
  small_bundle* const bundle = of;
  end_count* const ends = bundle->ends;
  int64_t* const leaves = bundle->shared;
  if (bundle->number == 0) {
    add(leaves, 1);
  } else {
    end_count both = {2};
    for (int i = 0; i < 2; ++i) {
      small_bundle child = {.ends = &both, .shared = leaves, .number = bundle->number - 1};
      begin(count_leaves, &child, sizeof child);
    }
    wait_by_yields(&both);
  }
  task_ends(ends);
}

void test_constructs(void) {
  int64_t leaves = 0;
  end_count root = {1};
  small_bundle bundle = {.ends = &root, .shared = &leaves, .number = 9};
  begin(count_leaves, &bundle, sizeof bundle);
  wait_by_yields(&root);
  CHECK(leaves == 512);
}

// -- What belongs to a task -----------------------------------------------------------------------

enum { many = 500 };

static void keep_own_data(void* of) {
  small_bundle* const bundle = of;
  chpl_taskID_t* const ids = bundle->shared;
  const chpl_taskID_t id = chpl_task_getId();
  CHECK(id != chpl_nullTaskID && id == bundle->head.id);
  chpl_task_prvData_t* const data = chpl_task_getPrvData();
  for (int i = 0; i < 4; ++i) CHECK(data->comm_data[i] == 0);
  data->comm_data[1] = (long)bundle->number;
  CHECK(!chpl_task_getSerial());
  chpl_task_setSerial(bundle->number % 2 == 0);
  for (int i = 0; i < 3; ++i) {
    chpl_task_yield();
    CHECK(chpl_task_getPrvData()->comm_data[1] == bundle->number);
    CHECK(chpl_task_getSerial() == (bundle->number % 2 == 0));
    CHECK(chpl_task_idEquals(chpl_task_getId(), id));
  }
  char text[CHPL_TASK_ID_STRING_MAX_LEN];
  CHECK(chpl_task_idToString(text, sizeof text, id) == text && strlen(text) > 0);
  CHECK(chpl_task_idToString(text, strlen(text), id) == NULL);
  ids[bundle->number] = id;
  task_ends(bundle->ends);
}

static void run_in_place(void* of) {
  small_bundle* const bundle = of;
  CHECK(chpl_task_getId() == *(chpl_taskID_t*)bundle->shared);
  chpl_task_setSerial(false);  // of this "task" only
  task_ends(bundle->ends);
}

void test_task_state(void) {
  static chpl_taskID_t ids[many];
  coforall(many, keep_own_data, ids);
  for (int i = 0; i < many; ++i) {
    CHECK(ids[i] != chpl_task_getId());
    for (int k = 0; k < i; ++k) CHECK(!chpl_task_idEquals(ids[i], ids[k]));
  }

  // Serial begins run in place, in order.
  chpl_taskID_t own = chpl_task_getId();
  end_count ends = {0};
  CHECK(!chpl_task_getSerial());
  chpl_task_setSerial(true);
  begin_numbers(3, run_in_place, &own, &ends);
  CHECK(ends.left == 0);
  CHECK(chpl_task_getSerial());
  chpl_task_setSerial(false);
}

// -- The main task --------------------------------------------------------------------------------

static chpl_taskID_t main_id;

void test_before_main(void) {
  main_id = chpl_task_getId();
  CHECK(main_id != chpl_nullTaskID && chpl_task_getId() == main_id);
  CHECK(!chpl_task_getSerial());
  chpl_task_setSerial(true);
  CHECK(chpl_task_getSerial());
  int64_t sum = 0;
  end_count in_place = {0};
  begin_numbers(10, add_number, &sum, &in_place);
  CHECK(sum == 45);
  chpl_task_setSerial(false);
  coforall(10, add_number, &sum);  // in tasks, although the caller is none
  CHECK(sum == 90);
  chpl_task_getPrvData()->comm_data[3] = 77;
  chpl_task_yield();
  chpl_task_sleep(0.001);
  CHECK(chpl_task_getMaxPar() >= 1 && chpl_task_getNumSublocales() == 0);
  const int32_t threads = chpl_task_getenvNumThreadsPerLocale();
  if (threads != 0 && getenv("APGAS_WORKERS") == NULL)
    CHECK(chpl_task_getMaxPar() == (uint32_t)threads);
}

static int64_t inner_ran = 0;

static void inner_task(void* unused) {
  (void)unused;
  chpl_task_sleep(0.01);
  add(&inner_ran, 1);
}

static void inner_main(void) {
  CHECK(chpl_task_getId() == main_id);
  chpl_task_bundle_t bundle;
  for (int i = 0; i < 5; ++i) begin(inner_task, &bundle, sizeof bundle);
}

void test_nested_main(void) {
  CHECK(chpl_task_getId() == main_id);
  CHECK(chpl_task_getPrvData()->comm_data[3] == 77);
  chpl_task_callMain(inner_main);
  CHECK(inner_ran == 5);
  CHECK(chpl_task_getId() == main_id);
  chpl_task_getPrvData()->comm_data[3] = 78;
}

void test_after_main(void) {
  CHECK(chpl_task_getId() == main_id);
  CHECK(chpl_task_getPrvData()->comm_data[3] == 78);
  CHECK(chpl_task_getNumRunningTasks() == 0 && chpl_task_getNumQueuedTasks() == 0);
  CHECK(chpl_task_getNumBlockedTasks() == 0);
  CHECK(callbacks[0] == callbacks[1] && callbacks[1] == callbacks[2] && callbacks[0] > 0);
}

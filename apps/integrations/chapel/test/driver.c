/* SPDX-License-Identifier: Apache-2.0 */
// A program that uses the tasking layer CHPL_TASKS=apgas as a compiled Chapel program does. It
// prints the first check that fails, and ends with code 1 then.
//   chapel_driver              runs the tests
//   chapel_driver measure      compares the layer with threads of the system
//   chapel_driver exit         ends the process in a task, with code 3
//   chapel_driver overflow     overflows the stack of a task
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static void run_tests(void) {
  CHPL_TASK_STD_MODULES_INITIALIZED();
  test_bundles();
  test_constructs();
  test_task_state();
  test_sync_variables();
  test_many_waiters();
  test_yield_and_sleep();
  test_counts();
  test_moved_tasks();
  test_threads();
  test_nested_main();
}

static void end_in_task(void* unused) {
  (void)unused;
  chpl_task_exit();
  exit(3);
}

static void main_that_exits(void) {
  chpl_task_bundle_t bundle;
  begin(end_in_task, &bundle, sizeof bundle);
  for (;;) chpl_task_yield();
}

// The address of the frame keeps the compiler from making this a loop.
static int64_t recurse(int64_t n, const volatile char* outer) {
  volatile char frame[4096];
  frame[n % 4096] = outer[0];
  return n == 0 ? frame[0] : recurse(n - 1, frame) + frame[1];
}

static void overflow(void* unused) {
  (void)unused;
  volatile char first[1] = {0};
  const int64_t frames = (int64_t)(chpl_task_getCallStackSize() / 4096) * 4;
  printf("%d\n", (int)recurse(frames, first));
}

static void main_that_overflows(void) {
  chpl_task_bundle_t bundle;
  begin(overflow, &bundle, sizeof bundle);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "tests";
  chpl_task_init();
  if (strcmp(what, "exit") == 0) {
    chpl_task_callMain(main_that_exits);
  } else if (strcmp(what, "overflow") == 0) {
    chpl_task_callMain(main_that_overflows);
  } else if (strcmp(what, "measure") == 0) {
    chpl_task_callMain(measure);
  } else if (strcmp(what, "tests") == 0) {
    test_before_main();
    chpl_task_callMain(run_tests);
    test_after_main();
  } else {
    fprintf(stderr, "chapel_driver: %s is none of tests, measure, exit, overflow\n", what);
    return 2;
  }
  chpl_task_exit();
  chpl_task_exit();  // does nothing
  // Only the state of this thread is left, when the communication task has ended.
  for (int i = 0; i < 1000 && load(&allocations) != 1; ++i) chpl_task_sleep(0.01);
  CHECK(load(&allocations) == 1);
  printf("passed\n");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAPEL_DRIVER_H
#define CHAPEL_DRIVER_H

// What the files of the driver share. The driver calls the tasking layer as compiled Chapel code
// does, and stands in for the rest of Chapel's runtime.

#include <stddef.h>
#include <stdint.h>

#include "chpl-tasks.h"

// Ends the program with code 1 and names the condition if it does not hold.
void check(int holds, const char* text, const char* file, int line);
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

// -- Parallel constructs --------------------------------------------------------------------------

// Returns the number of a function in chpl_ftable, and adds it there if it is new.
chpl_fn_int_t number_of(chpl_fn_p f);

// A begin statement: f gets a copy of the bundle, whose first field is the head.
void begin(chpl_fn_p f, void* bundle, size_t bytes);

// The end count of a sync statement, a cobegin or a coforall: how many tasks have not ended.
typedef struct {
  int64_t left;
} end_count;

void more_tasks(end_count* count, int64_t n);
void task_ends(end_count* count);
void wait_by_yields(end_count* count);

// Most tasks of the tests need no more than this.
typedef struct {
  chpl_task_bundle_t head;
  end_count* ends;
  void* shared;
  int64_t number;
} small_bundle;

// A coforall: runs f with the numbers 0 to n-1 in tasks, and waits by yields until they have ended.
void coforall(int64_t n, chpl_fn_p f, void* shared);
// A cobegin or begins without the wait.
void begin_numbers(int64_t n, chpl_fn_p f, void* shared, end_count* ends);

// -- Sync variables -------------------------------------------------------------------------------

typedef struct {
  int64_t value;
  chpl_sync_aux_t aux;
} sync_int;

void sync_init(sync_int* s);
void sync_destroy(sync_int* s);
void write_ef(sync_int* s, int64_t value);
int64_t read_fe(sync_int* s);
int64_t read_ff(sync_int* s);  // also of a single variable

// -- The rest of Chapel's runtime -----------------------------------------------------------------

int64_t load(const int64_t* from);
void store(int64_t* to, int64_t value);
int64_t add(int64_t* to, int64_t value);  // returns the sum

extern int64_t running_count;  // by chpl_taskRunningCntInc and Dec
extern int64_t callbacks[3];   // by chpl_task_do_callbacks
extern int64_t allocations;    // blocks that have not been freed
double seconds_now(void);

// -- The tests ------------------------------------------------------------------------------------

void test_before_main(void);  // on the main thread, before the main task
void test_bundles(void);
void test_constructs(void);
void test_task_state(void);
void test_sync_variables(void);
void test_many_waiters(void);
void test_yield_and_sleep(void);
void test_counts(void);
void test_moved_tasks(void);
void test_threads(void);
void test_nested_main(void);
void test_after_main(void);
void measure(void);

#endif

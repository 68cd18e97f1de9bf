/* SPDX-License-Identifier: Apache-2.0 */
// Sync variables, yields and sleeps, on any number of workers: a task that waits gives its worker
// to the tasks that it waits for.
#include "driver.h"

// -- Sync variables -------------------------------------------------------------------------------

enum { rounds = 5000 };

static sync_int to_other;
static sync_int to_main;

static void return_values(void* of) {
  small_bundle* const bundle = of;
  for (int64_t i = 0; i < rounds; ++i) write_ef(&to_main, read_fe(&to_other) + 1);
  task_ends(bundle->ends);
}

static void test_ping_pong(void) {
  sync_init(&to_other);
  sync_init(&to_main);
  end_count ends = {0};
  begin_numbers(1, return_values, NULL, &ends);
  for (int64_t i = 0; i < rounds; ++i) {
    write_ef(&to_other, i);
    CHECK(read_fe(&to_main) == i + 1);
  }
  wait_by_yields(&ends);
  sync_destroy(&to_other);
  sync_destroy(&to_main);
}

static void produce(void* of) {
  small_bundle* const bundle = of;
  for (int64_t i = 1; i <= 100; ++i) write_ef(bundle->shared, i);
  task_ends(bundle->ends);
}

static int64_t consumed = 0;

static void consume(void* of) {
  small_bundle* const bundle = of;
  for (int64_t i = 1; i <= 100; ++i) add(&consumed, read_fe(bundle->shared));
  task_ends(bundle->ends);
}

void test_sync_variables(void) {
  sync_int s;
  sync_init(&s);
  CHECK(!chpl_sync_isFull(&s.value, &s.aux));
  write_ef(&s, 5);
  CHECK(chpl_sync_isFull(&s.value, &s.aux));
  CHECK(read_ff(&s) == 5 && chpl_sync_isFull(&s.value, &s.aux));
  chpl_sync_lock(&s.aux);
  chpl_sync_unlock(&s.aux);
  CHECK(chpl_sync_isFull(&s.value, &s.aux));
  CHECK(read_fe(&s) == 5 && !chpl_sync_isFull(&s.value, &s.aux));
  chpl_sync_lock(&s.aux);  // writeXF
  s.value = 6;
  chpl_sync_markAndSignalFull(&s.aux);
  CHECK(read_fe(&s) == 6);

  test_ping_pong();
  end_count ends = {0};
  begin_numbers(20, produce, &s, &ends);
  begin_numbers(20, consume, &s, &ends);
  wait_by_yields(&ends);
  CHECK(consumed == INT64_C(20) * 5050 && !chpl_sync_isFull(&s.value, &s.aux));
  sync_destroy(&s);
}

// -- More waiting tasks than workers --------------------------------------------------------------

enum { waiters = 300 };

static sync_int gate;
static int64_t served[waiters];
static int64_t served_count = 0;

static void wait_at_gate(void* of) {
  small_bundle* const bundle = of;
  const int64_t value = read_fe(&gate);
  served[value] = bundle->number;
  add(&served_count, 1);
  task_ends(bundle->ends);
}

static void wait_until_blocked(int64_t n) {
  while (chpl_task_getNumBlockedTasks() != n) chpl_task_yield();
}

// All workers have only tasks that wait, and the task that lets them go on begins last.
static void test_gate(void) {
  sync_init(&gate);
  end_count ends = {0};
  const int in_order = chpl_task_getMaxPar() == 1;
  small_bundle bundle = {.ends = &ends};
  for (int64_t i = 0; i < waiters; ++i) {
    bundle.number = i;
    more_tasks(&ends, 1);
    begin(wait_at_gate, &bundle, sizeof bundle);
    if (in_order) wait_until_blocked(i + 1);  // on one worker it has then come to the gate
  }
  wait_until_blocked(waiters);
  CHECK(served_count == 0);
  for (int64_t i = 0; i < waiters; ++i) write_ef(&gate, i);
  wait_by_yields(&ends);
  CHECK(served_count == waiters);
  if (in_order)
    for (int64_t i = 0; i < waiters; ++i) CHECK(served[i] == i);
  sync_destroy(&gate);
}

static void read_single(void* of) {
  small_bundle* const bundle = of;
  CHECK(read_ff(bundle->shared) == 42);
  task_ends(bundle->ends);
}

static void write_single(void* of) {
  small_bundle* const bundle = of;
  write_ef(bundle->shared, 42);
  task_ends(bundle->ends);
}

static int64_t guarded = 0;  // under the lock

static void add_under_lock(void* of) {
  small_bundle* const bundle = of;
  sync_int* const s = bundle->shared;
  for (int i = 0; i < 10; ++i) {
    chpl_sync_lock(&s->aux);
    const int64_t before = guarded;
    if (i == 5) chpl_task_yield();
    guarded = before + 1;
    chpl_sync_unlock(&s->aux);
  }
  task_ends(bundle->ends);
}

// A barrier of tasks, as Chapel's module Barrier has it: a count and a single variable.
static int64_t arrived = 0;

static void pass_barrier(void* of) {
  small_bundle* const bundle = of;
  if (add(&arrived, 1) == waiters)
    write_ef(bundle->shared, 1);
  else
    CHECK(read_ff(bundle->shared) == 1);
  CHECK(load(&arrived) == waiters);
  task_ends(bundle->ends);
}

void test_many_waiters(void) {
  test_gate();

  sync_int s;
  sync_init(&s);
  end_count ends = {0};
  begin_numbers(waiters, read_single, &s, &ends);
  wait_until_blocked(waiters);
  begin_numbers(1, write_single, &s, &ends);
  wait_by_yields(&ends);
  CHECK(read_fe(&s) == 42);

  chpl_sync_lock(&s.aux);
  begin_numbers(waiters, add_under_lock, &s, &ends);
  for (int i = 0; i < 100; ++i) chpl_task_yield();
  CHECK(guarded == 0);
  chpl_sync_unlock(&s.aux);
  wait_by_yields(&ends);
  CHECK(guarded == INT64_C(10) * waiters);

  coforall(waiters, pass_barrier, &s);
  sync_destroy(&s);
}

// -- Yields and sleeps ----------------------------------------------------------------------------

static int64_t turn = 0;

static void take_turn(void* of) {
  small_bundle* const bundle = of;
  while (load(&turn) != bundle->number) chpl_task_yield();
  chpl_task_yield();
  add(&turn, -1);
  task_ends(bundle->ends);
}

static void sleep_for_a_while(void* of) {
  small_bundle* const bundle = of;
  const double begun = seconds_now();
  chpl_task_sleep(0.2);
  CHECK(seconds_now() - begun >= 0.2);
  task_ends(bundle->ends);
}

static void add_one(void* of) {
  small_bundle* const bundle = of;
  add(bundle->shared, 1);
  task_ends(bundle->ends);
}

void test_yield_and_sleep(void) {
  // The task that has the first turn begins last.
  store(&turn, 99);
  coforall(100, take_turn, NULL);
  CHECK(load(&turn) == -1);

  // The others run while tasks sleep: the sleeps of 200 tasks do not add up.
  const double begun = seconds_now();
  end_count sleepers = {0};
  begin_numbers(200, sleep_for_a_while, NULL, &sleepers);
  int64_t ran = 0;
  coforall(100, add_one, &ran);
  CHECK(ran == 100);
  CHECK(load(&sleepers.left) > 0 || seconds_now() - begun >= 0.2);
  wait_by_yields(&sleepers);
  CHECK(seconds_now() - begun < 20);
  chpl_task_sleep(0);
  chpl_task_sleep(-1);
}

/* SPDX-License-Identifier: Apache-2.0 */
// What a begin with a hand-over by a sync variable costs: in the tasking layer, and with a thread
// of the system that takes tasks from a queue, as Chapel's layer fifo has it.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>

#include "driver.h"

enum { tasks = 20000, repetitions = 5 };

static sync_int result;

static void write_result(void* of) {
  small_bundle* const bundle = of;
  write_ef(&result, bundle->number);
}

static double layer_seconds(void) {
  const double begun = seconds_now();
  small_bundle bundle = {.ends = NULL};
  for (int64_t i = 0; i < tasks; ++i) {
    bundle.number = i;
    begin(write_result, &bundle, sizeof bundle);
    CHECK(read_fe(&result) == i);
  }
  return seconds_now() - begun;
}

// A queue of one task, and its full/empty result.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t task_changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t result_changed = PTHREAD_COND_INITIALIZER;
static int64_t waiting_task = -1;
static int64_t waiting_result = -1;

static void* run_tasks(void* unused) {
  for (int64_t i = 0; i < tasks; ++i) {
    pthread_mutex_lock(&lock);
    while (waiting_task < 0) pthread_cond_wait(&task_changed, &lock);
    waiting_result = waiting_task;
    waiting_task = -1;
    pthread_cond_signal(&result_changed);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static double thread_seconds(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run_tasks, NULL) == 0);
  const double begun = seconds_now();
  for (int64_t i = 0; i < tasks; ++i) {
    pthread_mutex_lock(&lock);
    waiting_task = i;
    pthread_cond_signal(&task_changed);
    while (waiting_result < 0) pthread_cond_wait(&result_changed, &lock);
    CHECK(waiting_result == i);
    waiting_result = -1;
    pthread_mutex_unlock(&lock);
  }
  const double seconds = seconds_now() - begun;
  pthread_join(thread, NULL);
  return seconds;
}

void measure(void) {
  double by_layer = 1e9;
  double by_thread = 1e9;
  sync_init(&result);
  for (int i = 0; i < repetitions; ++i) {
    const double layer = layer_seconds();
    const double thread = thread_seconds();
    if (layer < by_layer) by_layer = layer;
    if (thread < by_thread) by_thread = thread;
  }
  sync_destroy(&result);
  printf("{\"tasks\":%d,\"workers\":%u,\"layer_ns\":%.0f,\"thread_ns\":%.0f,\"ratio\":%.2f}\n",
         tasks, (unsigned)chpl_task_getMaxPar(), by_layer / tasks * 1e9, by_thread / tasks * 1e9,
         by_thread / by_layer);
}

// SPDX-License-Identifier: Apache-2.0
// A program in C99 that uses every function of apgas/c.h, on any number of places. It prints the
// first check that fails, and ends with code 1 then.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <apgas/c.h>

static void check(int holds, const char* text, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: place %d: not true: %s\n", __FILE__, line, apgas_here(), text);
  _exit(1);
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == 0)

// -- Tasks ----------------------------------------------------------------------------------------

struct fib {
  int n;
  long* result;
};

static void fib_task(void* of) {
  const struct fib* const f = of;
  if (f->n < 2) {
    *f->result = f->n;
    return;
  }
  long left = 0;
  long right = 0;
  const struct fib parts[2] = {{f->n - 1, &left}, {f->n - 2, &right}};
  apgas_finish_t both;
  OK(apgas_finish_begin(&both));
  OK(apgas_spawn(fib_task, &parts[0], sizeof parts[0]));
  OK(apgas_spawn(fib_task, &parts[1], sizeof parts[1]));
  OK(apgas_finish_end(both));
  *f->result = left + right;
}

struct big_block {
  long values[100];
  long* sum;
};

static void add_values(void* of) {
  const struct big_block* const block = of;
  CHECK((uintptr_t)block % sizeof(long double) == 0);
  for (int i = 0; i < 100; ++i) *block->sum += block->values[i];
}

static void expect_null(void* block) { CHECK(block == NULL); }

static void spawn_blocks(void* sum) {
  struct big_block block;
  for (int i = 0; i < 100; ++i) block.values[i] = i;
  block.sum = sum;
  OK(apgas_spawn(add_values, &block, sizeof block));
  memset(&block, 0, sizeof block);
  OK(apgas_spawn(expect_null, &block, 0));
  OK(apgas_spawn(expect_null, NULL, 0));
}

static void own_pointer(void* ids) {
  void** const mine = apgas_task_pointer();
  CHECK(mine != NULL && *mine == NULL);
  *mine = &ids;
  **(uint64_t**)ids = apgas_task_id();
  OK(apgas_yield());
  OK(apgas_sleep(0.001));
  CHECK(apgas_task_pointer() == mine && *mine == &ids);
  CHECK(**(uint64_t**)ids == apgas_task_id());
}

static void spawn_two_with_pointers(void* ids) {
  for (int i = 0; i < 2; ++i) {
    uint64_t* const id = (uint64_t*)ids + i;
    OK(apgas_spawn(own_pointer, &id, sizeof id));
  }
}

static void check_tasks(void) {
  long result = 0;
  struct fib f = {18, &result};
  fib_task(&f);
  CHECK(result == 2584);

  long sum = 0;
  OK(apgas_finish(spawn_blocks, &sum));
  CHECK(sum == 4950);

  uint64_t ids[2] = {0, 0};
  *apgas_task_pointer() = ids;
  OK(apgas_finish(spawn_two_with_pointers, ids));
  CHECK(*apgas_task_pointer() == ids);
  CHECK(ids[0] != 0 && ids[1] != 0 && ids[0] != ids[1]);
  CHECK(apgas_task_id() != ids[0] && apgas_task_id() != ids[1]);

  CHECK(apgas_workers() >= 1);
  CHECK(apgas_worker() >= 0 && apgas_worker() < apgas_workers());
}

// -- Waiting --------------------------------------------------------------------------------------

enum { rounds = 200, turns = 50, takers = 4 };

struct exchange {
  apgas_sync_t sync;
  int value;
};

static void produce(void* of) {
  struct exchange* const e = *(struct exchange**)of;
  for (int i = 1; i <= rounds; ++i) {
    OK(apgas_sync_wait_empty_lock(e->sync));
    e->value = i;
    OK(apgas_sync_set_full_unlock(e->sync));
  }
}

static void consume(void* of) {
  struct exchange* const e = *(struct exchange**)of;
  for (int i = 1; i <= rounds; ++i) {
    OK(apgas_sync_wait_full_lock(e->sync));
    CHECK(e->value == i);
    OK(apgas_sync_set_empty_unlock(e->sync));
  }
}

struct queue {
  apgas_mutex_t mutex;
  apgas_cond_t changed;
  int filled;
  int taken;
};

static void take_all(void* of) {
  struct queue* const q = *(struct queue**)of;
  for (int i = 0; i < turns; ++i) {
    OK(apgas_mutex_lock(q->mutex));
    while (q->filled == 0) OK(apgas_cond_wait(q->changed, q->mutex));
    --q->filled;
    ++q->taken;
    OK(apgas_mutex_unlock(q->mutex));
  }
}

static void fill(void* of) {
  struct queue* const q = *(struct queue**)of;
  for (int i = 0; i < turns * takers; ++i) {
    OK(apgas_mutex_lock(q->mutex));
    ++q->filled;
    OK(i % 2 == 0 ? apgas_cond_signal(q->changed) : apgas_cond_broadcast(q->changed));
    OK(apgas_mutex_unlock(q->mutex));
  }
}

static void check_sync(void) {
  struct exchange e = {NULL, 0};
  struct exchange* const to = &e;
  OK(apgas_sync_create(&e.sync));
  apgas_finish_t both;
  OK(apgas_finish_begin(&both));
  OK(apgas_spawn(consume, &to, sizeof to));
  OK(apgas_spawn(produce, &to, sizeof to));
  OK(apgas_finish_end(both));
  int full = 1;
  OK(apgas_sync_is_full(e.sync, &full));
  CHECK(full == 0);
  OK(apgas_sync_lock(e.sync));
  OK(apgas_sync_set_full_unlock(e.sync));
  OK(apgas_sync_lock(e.sync));
  OK(apgas_sync_unlock(e.sync));
  OK(apgas_sync_is_full(e.sync, &full));
  CHECK(full == 1);
  OK(apgas_sync_destroy(e.sync));
}

static void check_queue(void) {
  struct queue q = {NULL, NULL, 0, 0};
  struct queue* const to = &q;
  OK(apgas_mutex_create(&q.mutex));
  OK(apgas_cond_create(&q.changed));
  apgas_finish_t all;
  OK(apgas_finish_begin(&all));
  for (int i = 0; i < takers; ++i) OK(apgas_spawn(take_all, &to, sizeof to));
  OK(apgas_spawn(fill, &to, sizeof to));
  OK(apgas_finish_end(all));
  CHECK(q.filled == 0 && q.taken == turns * takers);
  OK(apgas_mutex_trylock(q.mutex));
  CHECK(apgas_mutex_trylock(q.mutex) == APGAS_EBUSY);
  OK(apgas_mutex_unlock(q.mutex));
  OK(apgas_cond_destroy(q.changed));
  OK(apgas_mutex_destroy(q.mutex));
}

// -- Places ---------------------------------------------------------------------------------------

static int arrivals;  // at place 0

static void sum_and_place(const void* arg, size_t bytes, void* result, size_t result_bytes) {
  const unsigned char* const all = arg;
  long* const to = result;
  CHECK(result_bytes == 3 * sizeof(long) && to[0] == 0 && to[1] == 0 && to[2] == 0);
  CHECK(*apgas_task_pointer() == NULL);
  for (size_t i = 0; i < bytes; ++i) to[0] += all[i];
  to[1] = apgas_here();
  to[2] = (long)getpid();
}

static void count_arrival(const void* arg, size_t bytes, void* result, size_t result_bytes) {
  CHECK(bytes == sizeof(int) && result == NULL && result_bytes == 0);
  int from = -1;
  memcpy(&from, arg, sizeof from);
  CHECK(from >= 0 && from < apgas_places());
  __atomic_fetch_add(&arrivals, 1, __ATOMIC_RELAXED);
}

static void report_home(const void* arg, size_t bytes) {
  CHECK(bytes == sizeof(int));
  int home = -1;
  memcpy(&home, arg, sizeof home);
  const int here = apgas_here();
  OK(apgas_at(home, count_arrival, &here, sizeof here, NULL, 0));
}

static void spawn_everywhere(void* home) {
  for (int p = 0; p < apgas_places(); ++p) OK(apgas_async_at(p, report_home, home, sizeof(int)));
}

static long check_at(int p, size_t bytes) {
  unsigned char* const block = malloc(bytes + 1);
  memset(block, 3, bytes + 1);
  long result[3] = {7, 7, 7};
  OK(apgas_at(p, sum_and_place, block, bytes, result, sizeof result));
  CHECK(result[0] == 3 * (long)bytes && result[1] == p);
  free(block);
  return result[2];
}

typedef void (*remote_function)(const void*, size_t);

// A function of a module that only this process has loaded.
static void check_other_module(int p, int same_process) {
  void* const module = dlopen(APGAS_TEST_MODULE, RTLD_NOW);
  CHECK(module != NULL);
  remote_function f = NULL;
  *(void**)&f = dlsym(module, "c_module_function");
  CHECK(f != NULL);
  apgas_finish_t end;
  OK(apgas_finish_begin(&end));
  OK(apgas_async_at(p, f, NULL, 0));
  CHECK(apgas_finish_end(end) == (same_process ? 0 : APGAS_EFUNCTION));
  dlclose(module);
}

static void check_places(void) {
  long other = 0;
  for (int p = 0; p < apgas_places(); ++p) {
    check_at(p, 0);
    check_at(p, 5);
    other = check_at(p, 100000);
  }
  int home = apgas_here();
  OK(apgas_finish(spawn_everywhere, &home));
  CHECK(arrivals == apgas_places());
  arrivals = 0;
  const int last = apgas_places() - 1;
  check_other_module(last, other == (long)getpid());
  const remote_function data = (remote_function)(uintptr_t)&arrivals;  // not a function
  if (last != 0) CHECK(apgas_async_at(last, data, NULL, 0) == APGAS_EFUNCTION);
  CHECK(apgas_async_at(last + 1, report_home, NULL, 0) == APGAS_EPLACE);
  CHECK(apgas_at(-1, sum_and_place, NULL, 0, NULL, 0) == APGAS_EPLACE);
}

static void main_task(void* arg) {
  CHECK(*(int*)arg == 42);
  CHECK(apgas_here() == 0);
  check_tasks();
  check_sync();
  check_queue();
  check_places();
}

int main(int argc, char** argv) {
  CHECK(apgas_here() == APGAS_ENOTSTARTED);
  apgas_config config = APGAS_CONFIG_INIT;
  config.argc = argc;
  config.argv = argv;
  for (int round = 0; round < 2; ++round) {
    OK(apgas_start(&config));
    CHECK(apgas_start(&config) == APGAS_EACTIVE);
    int answer = 42;
    if (apgas_here() == 0) {
      OK(apgas_run(main_task, &answer));
      CHECK(apgas_workers() >= 1);
    } else {
      CHECK(apgas_run(main_task, &answer) == APGAS_EPLACE);
    }
    OK(apgas_stop());
    CHECK(apgas_stop() == APGAS_ENOTSTARTED);
  }
  return 0;
}

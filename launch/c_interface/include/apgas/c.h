/* SPDX-License-Identifier: Apache-2.0 */
#ifndef APGAS_C_H
#define APGAS_C_H

// The C interface of the runtime, in C99, for programs and runtimes in C and for other languages
// that call C functions.
//
//   static void hello(void* unused) {
//     (void)unused;
//     printf("place %d of %d has %d workers\n", apgas_here(), apgas_places(), apgas_workers());
//   }
//   int main(int argc, char** argv) {
//     apgas_config config = APGAS_CONFIG_INIT;
//     config.argc = argc;
//     config.argv = argv;
//     int code = apgas_start(&config);
//     if (code == 0 && apgas_here() == 0) code = apgas_run(hello, NULL);
//     if (code == 0) code = apgas_stop();  // places other than 0 work here until place 0 stops
//     if (code != 0) fprintf(stderr, "%s\n", apgas_strerror(code));
//     return code != 0;
//   }
//
// Results. Functions that return int return 0 or a negative code APGAS_E...; those that return a
// number return it instead of 0. apgas_strerror gives the text of a code. No C++ exception leaves a
// function of this header. A callback may be written in C++: an exception that leaves it ends its
// task, and the function that waits for the task returns APGAS_EEXCEPTION.
//
// Contexts. "Task" means: in the function that was given to apgas_run, or in a task that was
// spawned from there; the program may as well have been started by the C++ interface. All functions
// with that context return APGAS_ENOTASK on any other thread. "May suspend" means that the worker
// thread runs other tasks meanwhile, and that the calling task may continue on another thread of
// its place. So a task must not keep a pthread mutex locked, or the address of errno, across such a
// call. Functions that may suspend or spawn return APGAS_ECRITICAL inside `atomic` or `when` of
// C++.
//
// Context: task, unless the comment of a function says otherwise.
// Errors: EINVAL for a null handle or pointer, also where a comment does not name it.
// Cost: that of the same construct in C++ and of a call into the library. A spawn and the end of
// its task take about 25 ns, a finish about 13 ns (README.md of launch/c_interface).
//
// Blocks. arg and bytes describe memory that a function copies before it returns. At most
// APGAS_MAX_BLOCK bytes can be copied; a copy is aligned as malloc aligns. If bytes is 0, the
// callback gets a null pointer.
//
// Stable ABI. Functions and codes of a version stay in later ones. apgas_config may get further
// fields at its end; its field `size` tells the library which ones a program knows.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define APGAS_C_API __attribute__((visibility("default")))
#else
#define APGAS_C_API
#endif

#ifdef __cplusplus
#define APGAS_C_NOEXCEPT noexcept
extern "C" {
#else
#define APGAS_C_NOEXCEPT
#endif

// The codes.
// clang-format off
#define APGAS_EINVAL      (-1)  // a null pointer, or a value that is not possible
#define APGAS_ENOMEM      (-2)  // no memory
#define APGAS_ENOTASK     (-3)  // called outside a task
#define APGAS_EINTASK     (-4)  // called by a task
#define APGAS_ENOTSTARTED (-5)  // no program is active: before apgas_start, or after its end
#define APGAS_EACTIVE     (-6)  // a program is active in this process already
#define APGAS_ESTART      (-7)  // the program cannot start; one line on standard error says why
#define APGAS_EPLACE      (-8)  // there is no such place, or the call is not allowed at this place
#define APGAS_ETOOBIG     (-9)  // a block or a result is larger than APGAS_MAX_BLOCK
#define APGAS_EFUNCTION   (-10)  // the other place does not have the function
#define APGAS_EEXCEPTION  (-11)  // a C++ exception left a callback or a task
#define APGAS_EFINISH     (-12)  // apgas_finish_begin and apgas_finish_end do not match
#define APGAS_EBUSY       (-13)  // locked, or still in use
#define APGAS_ENOTLOCKED  (-14)  // not locked
#define APGAS_ECRITICAL   (-15)  // called inside a critical section of C++
// clang-format on

// The size of the largest block: 1 GiB, less what a message needs besides.
#define APGAS_MAX_BLOCK ((size_t)1073741824 - (size_t)65536)

// Returns the text of a code, which is valid for ever; a text that says so for an unknown code.
// Context: any thread.
APGAS_C_API const char* apgas_strerror(int code) APGAS_C_NOEXCEPT;

// -- The program ----------------------------------------------------------------------------------

// Settings that the program chooses itself. Zero stands for the usual default, so that
// `apgas_config c = {0}` has the defaults. Environment variables override all of them.
typedef struct apgas_config {
  size_t size;            // sizeof(apgas_config), or 0 for the fields of version 0.1
  int places;             // without a launcher: how many places the program has
  int workers;            // threads of each place that run tasks
  size_t stack_bytes;     // the size of the stack of a task
  const char* transport;  // "local", "mpi", "ucx" or "shm"
  int argc;               // the arguments of main, which APGAS_PLACES=n without a launcher needs
  char** argv;            // to start the program again under mpirun
  int serve_and_exit;     // if not 0, apgas_start does not return at places other than 0
  const char* const* settings;  // further settings as "NAME=VALUE", ended by a null pointer
} apgas_config;

// The defaults as an initializer of an apgas_config, with its size.
#define APGAS_CONFIG_INIT {sizeof(apgas_config), 0, 0, 0, 0, 0, 0, 0, 0}

// Starts the workers of this process, together with all other places. `config` may be NULL, which
// means the defaults.
// Under a launcher (mpirun, srun, apgas-run) every process is a place and calls this function. Then
// place 0 goes on, and the others call apgas_stop. A process may start and stop more than once.
// Errors: EINVAL, ENOMEM, EINTASK, EACTIVE, ESTART.
// Context: a thread outside tasks. Blocks.
APGAS_C_API int apgas_start(const apgas_config* config) APGAS_C_NOEXCEPT;

// At place 0, ends the program in order: waits for all calls of apgas_run and all tasks, at all
// places. At other places, runs what place 0 sends until the program ends.
// Errors: EINTASK; ENOTSTARTED; EEXCEPTION if an exception had no call that it could be returned
// by. Context: a thread outside tasks. Blocks.
APGAS_C_API int apgas_stop(void) APGAS_C_NOEXCEPT;

// Runs f(arg) as a task of place 0, and waits for it and for all tasks that it spawned, at every
// place. Any number of threads may call. Called by a task, this is apgas_finish.
// Errors: EINVAL; ENOTSTARTED; EPLACE outside tasks of places other than 0; those of apgas_finish.
// Context: any thread, which it blocks; a task, which may suspend.
APGAS_C_API int apgas_run(void (*f)(void*), void* arg) APGAS_C_NOEXCEPT;

// -- Tasks ----------------------------------------------------------------------------------------

// Spawns f as a task of the innermost finish that encloses the call. The task gets a copy of the
// block, which is freed when f returns.
// Errors: EINVAL if f is null, or if arg is and bytes is not 0; ENOMEM; ETOOBIG; ENOTASK;
// ECRITICAL. Context: task. May suspend: if very many tasks of the caller wait to run, some of them
// run first.
APGAS_C_API int apgas_spawn(void (*f)(void*), const void* arg, size_t bytes) APGAS_C_NOEXCEPT;

// Calls body(arg), and then waits for all tasks that it spawned, at any place, and for the tasks
// that those spawned. Errors: EINVAL; ENOTASK; ECRITICAL. If body or tasks failed: EFUNCTION,
// ENOMEM or EFINISH where all failed for that reason, otherwise EEXCEPTION; the call waits for all
// tasks also then. Context: task. May suspend.
APGAS_C_API int apgas_finish(void (*body)(void*), void* arg) APGAS_C_NOEXCEPT;

// The same in two calls: tasks that are spawned between begin and end belong to the finish. Each
// begin is followed by an end, in the same task and callback; inner ones end first. When a callback
// returns without the end, the finish is ended for it, and the enclosing finish fails with EFINISH.
//
//   static void child(void* number) {
//     *apgas_task_pointer() = number;  // of this task alone
//     apgas_yield();
//     apgas_sleep(1e-3);
//     printf("task %d has id %lu, worker %d\n", *(int*)*apgas_task_pointer(),
//            (unsigned long)apgas_task_id(), apgas_worker());
//   }
//   static void spawn_three(void* unused) {
//     (void)unused;
//     for (int i = 0; i < 3; ++i) apgas_spawn(child, &i, sizeof i);  // i is copied
//   }
//
//   apgas_finish(spawn_three, NULL);
//
//   apgas_finish_t finish;               // the same in two calls
//   apgas_finish_begin(&finish);
//   spawn_three(NULL);
//   apgas_finish_end(finish);
//
// Errors of begin: EINVAL, ENOMEM, ENOTASK, ECRITICAL. Errors of end: those of apgas_finish;
// EFINISH if this is not the innermost finish that the task has begun, which changes nothing.
// Context: task. end may suspend.
typedef struct apgas_finish_state* apgas_finish_t;
APGAS_C_API int apgas_finish_begin(apgas_finish_t* finish) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_finish_end(apgas_finish_t finish) APGAS_C_NOEXCEPT;

// Lets other tasks run. A task that waits for a condition in a loop of yields starves nobody.
// Errors: ENOTASK, ECRITICAL. Context: task. May suspend.
APGAS_C_API int apgas_yield(void) APGAS_C_NOEXCEPT;

// Suspends the task for at least that many seconds; zero or less yields.
// Errors: EINVAL if seconds is not a number; ENOMEM, ENOTASK, ECRITICAL. Context: task. May
// suspend.
APGAS_C_API int apgas_sleep(double seconds) APGAS_C_NOEXCEPT;

// Returns a number, not 0, that no other task of this process has or had; 0 outside a task, in a
// critical section and without memory. Context: any thread; does not suspend.
APGAS_C_API uint64_t apgas_task_id(void) APGAS_C_NOEXCEPT;

// Returns the address of a pointer that belongs to the calling task. It is null when the task
// begins, and may be set to anything. The address is valid until the task ends. Tasks are what
// apgas_spawn, apgas_async_at and apgas_at run; the body of a finish belongs to its task. Returns
// null outside a task, in a critical section and without memory. Context: any thread; does not
// suspend.
APGAS_C_API void** apgas_task_pointer(void) APGAS_C_NOEXCEPT;

// Return the number of workers of this place, and the number, from 0, of the worker that runs the
// task. Errors: ENOTASK. Context: task; apgas_workers also on the threads of place 0 between
// apgas_start and apgas_stop.
APGAS_C_API int apgas_workers(void) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_worker(void) APGAS_C_NOEXCEPT;

// -- Places ---------------------------------------------------------------------------------------

// Return the number of this place, from 0, and how many places the program has. Errors:
// ENOTSTARTED. Context: task; any thread between apgas_start and apgas_stop. Outside tasks,
// apgas_here is the place of the process, which is 0 where all places share one process.
APGAS_C_API int apgas_here(void) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_places(void) APGAS_C_NOEXCEPT;

// Spawns f(copy of the block, bytes) as a task of a place, and returns when the task is on its way.
// The innermost finish that encloses the call waits for it. f belongs to the program or to a shared
// library which both places have loaded; it travels as its offset there, with the build-id, so its
// address may differ. Where the other place does not have the library, the finish fails with
// EFUNCTION.
// Errors: as apgas_spawn; EPLACE; EFUNCTION if f belongs to no file, as code made at run time.
// Context: task. May suspend while too much waits to be sent to the place.
APGAS_C_API int apgas_async_at(int place, void (*f)(const void*, size_t), const void* arg,
                               size_t bytes) APGAS_C_NOEXCEPT;

// Calls f(copy of the block, bytes, result, result_bytes) at a place and waits for it. f finds
// result_bytes zeros at result; what it leaves there is copied into the memory of the caller, which
// does not change if the call fails. Tasks that f spawns belong to the caller's finish.
//
//   static void square(const void* arg, size_t bytes, void* result, size_t result_bytes) {
//     assert(bytes == sizeof(int) && result_bytes == sizeof(int));
//     *(int*)result = *(const int*)arg * *(const int*)arg;
//   }
//   static void print_number(const void* arg, size_t bytes) {
//     assert(bytes == sizeof(int));
//     printf("%d at place %d\n", *(const int*)arg, apgas_here());
//   }
//
//   int number = 7;
//   int result = 0;
//   int last = apgas_places() - 1;
//   int code = apgas_at(last, square, &number, sizeof number, &result, sizeof result);
//   assert(code == 0 && result == 49);
//   apgas_async_at(last, print_number, &result, sizeof result);
//
// Errors: as apgas_async_at, and EFUNCTION, EEXCEPTION, ENOMEM and EFINISH if the call failed so
// at the place. Context: task. May suspend.
APGAS_C_API int apgas_at(int place, void (*f)(const void*, size_t, void*, size_t), const void* arg,
                         size_t bytes, void* result, size_t result_bytes) APGAS_C_NOEXCEPT;

// -- Waiting --------------------------------------------------------------------------------------
// The following objects belong to their place. Creating and destroying: any thread. Unless stated
// otherwise the other functions need a task, return EINVAL for a null handle, ENOTASK and
// ECRITICAL, and never block the worker thread. _create also returns ENOMEM, and _destroy returns
// EBUSY, and does nothing, while the object is locked or a task waits for it.

// A lock with a state, full or empty: what a sync variable of Chapel needs beside its value. It
// begins empty. Tasks that wait for the same state proceed first come first served, and lock() goes
// before tasks that wait for a state.
//
//   static apgas_sync_t sync;
//   static int value;  // has a meaning while sync is full
//   static void fill(void* unused) {
//     (void)unused;
//     apgas_sync_wait_empty_lock(sync);
//     value = 42;
//     apgas_sync_set_full_unlock(sync);
//   }
//
//   apgas_sync_create(&sync);
//   apgas_spawn(fill, NULL, 0);
//   apgas_sync_wait_full_lock(sync);       // waits for the task
//   assert(value == 42);
//   apgas_sync_set_empty_unlock(sync);
//   apgas_sync_lock(sync);                 // whatever its state
//   apgas_sync_unlock(sync);
//   int full = 1;
//   apgas_sync_is_full(sync, &full);
//   assert(!full);
//   apgas_sync_destroy(sync);
typedef struct apgas_sync* apgas_sync_t;
APGAS_C_API int apgas_sync_create(apgas_sync_t* sync) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_sync_destroy(apgas_sync_t sync) APGAS_C_NOEXCEPT;
// Waits until `sync` is unlocked, or also full or empty, and locks it. May suspend.
APGAS_C_API int apgas_sync_lock(apgas_sync_t sync) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_sync_wait_full_lock(apgas_sync_t sync) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_sync_wait_empty_lock(apgas_sync_t sync) APGAS_C_NOEXCEPT;
// Unlocks `sync`, and leaves it as it was found, or full or empty. Does not suspend. Errors also:
// ENOTLOCKED.
APGAS_C_API int apgas_sync_unlock(apgas_sync_t sync) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_sync_set_full_unlock(apgas_sync_t sync) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_sync_set_empty_unlock(apgas_sync_t sync) APGAS_C_NOEXCEPT;
// Sets *full to 1 or 0 as `sync` is full or empty; while it is locked, to what it was before.
// Context: any thread.
APGAS_C_API int apgas_sync_is_full(apgas_sync_t sync, int* full) APGAS_C_NOEXCEPT;

// A mutex. It is not recursive, and another task than the one that locked it may unlock it.
typedef struct apgas_mutex* apgas_mutex_t;
APGAS_C_API int apgas_mutex_create(apgas_mutex_t* mutex) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_mutex_destroy(apgas_mutex_t mutex) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_mutex_lock(apgas_mutex_t mutex) APGAS_C_NOEXCEPT;  // may suspend
// Does not suspend. Errors also: EBUSY if the mutex is locked.
APGAS_C_API int apgas_mutex_trylock(apgas_mutex_t mutex) APGAS_C_NOEXCEPT;
// Does not suspend. Errors also: ENOTLOCKED.
APGAS_C_API int apgas_mutex_unlock(apgas_mutex_t mutex) APGAS_C_NOEXCEPT;

// A condition variable, named `cond` below. Its waiting tasks are notified first come first served.
//
//   static apgas_mutex_t mutex;
//   static apgas_cond_t changed;
//   static int jobs = 0;  // guarded by mutex
//   static void add_job(void* unused) {
//     (void)unused;
//     apgas_mutex_lock(mutex);
//     ++jobs;
//     apgas_cond_signal(changed);          // or apgas_cond_broadcast(changed), to wake all tasks
//     apgas_mutex_unlock(mutex);
//   }
//
//   apgas_mutex_create(&mutex);
//   apgas_cond_create(&changed);
//   apgas_spawn(add_job, NULL, 0);
//   apgas_mutex_lock(mutex);
//   while (jobs == 0) apgas_cond_wait(changed, mutex);
//   --jobs;
//   apgas_mutex_unlock(mutex);
//   if (apgas_mutex_trylock(mutex) == 0) apgas_mutex_unlock(mutex);
//   apgas_cond_broadcast(changed);         // nobody waits, so it has no effect
//   apgas_cond_destroy(changed);
//   apgas_mutex_destroy(mutex);
typedef struct apgas_cond* apgas_cond_t;
APGAS_C_API int apgas_cond_create(apgas_cond_t* cond) APGAS_C_NOEXCEPT;
// A wait for `cond` counts as waiting until it has returned.
APGAS_C_API int apgas_cond_destroy(apgas_cond_t cond) APGAS_C_NOEXCEPT;
// Unlocks the mutex, suspends until the task is notified by `cond`, and locks the mutex again.
// Errors also: ENOTLOCKED if the mutex is not locked.
APGAS_C_API int apgas_cond_wait(apgas_cond_t cond, apgas_mutex_t mutex) APGAS_C_NOEXCEPT;
// Notify the task that has waited longest for `cond`, or all. Context: any thread; they do not
// suspend.
APGAS_C_API int apgas_cond_signal(apgas_cond_t cond) APGAS_C_NOEXCEPT;
APGAS_C_API int apgas_cond_broadcast(apgas_cond_t cond) APGAS_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The header that programs include. It declares everything in docs/constructs.md.
//
// How to read the contracts in these headers:
//
//   Context: where the function may be called.
//     task         in the function given to `run`, or in a task that was spawned from there. A call
//                  on any other thread, or before `run`, throws illegal_operation.
//     any thread   also outside tasks.
//   "May suspend": the task may stop until what it waits for has happened. Its worker thread does
//     not block; it runs other tasks meanwhile. Spawns and all functions that may suspend throw
//     illegal_operation inside `atomic` or `when` (also those of a monitor), even if the call would
//     not have waited. The only exception is a nested `atomic`.
//   "May resume on another worker": after the call the task may run on another thread of the same
//     place. So it must not hold a std::mutex across the call, and the value of a thread_local and
//     the address of errno may be different afterwards. A task never changes its place by itself.
//   Throws: the exceptions that the call itself throws to its caller, and when. If memory is
//     exhausted, a function that allocates also throws std::bad_alloc. An exception that leaves a
//     spawned task does not reach its spawner, but the finish of the task.
//   Cost: times without waiting, as measured on the machine of docs/performance.md, and the
//     messages between places.
//
// If a place dies, no call throws or returns an error, and calls that wait for that place do not
// return: the job ends. One line on standard error names the place, its host and the cause, and the
// exit code is not 0. docs/reliability.md says within which time.

#include <apgas/accumulator.hpp>
#include <apgas/async.hpp>
#include <apgas/async_at_group.hpp>
#include <apgas/async_future_at.hpp>
#include <apgas/at.hpp>
#include <apgas/at_awaitable.hpp>
#include <apgas/at_into.hpp>
#include <apgas/atomic.hpp>
#include <apgas/blocking.hpp>
#include <apgas/channel.hpp>
#include <apgas/clock.hpp>
#include <apgas/condition_variable.hpp>
#include <apgas/config.hpp>
#include <apgas/coroutine.hpp>
#include <apgas/detached_async.hpp>
#include <apgas/dist_algorithms.hpp>
#include <apgas/dist_array.hpp>
#include <apgas/dist_grid.hpp>
#include <apgas/distribution.hpp>
#include <apgas/errors.hpp>
#include <apgas/exception_types.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/finish.hpp>
#include <apgas/finish_awaitable.hpp>
#include <apgas/finish_reduce.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/glb.hpp>
#include <apgas/global_ptr.hpp>
#include <apgas/global_ref.hpp>
#include <apgas/latch.hpp>
#include <apgas/monitor.hpp>
#include <apgas/mutex.hpp>
#include <apgas/one_sided.hpp>
#include <apgas/parallel.hpp>
#include <apgas/phaser.hpp>
#include <apgas/place.hpp>
#include <apgas/place_group.hpp>
#include <apgas/place_local.hpp>
#include <apgas/promise.hpp>
#include <apgas/remote_atomics.hpp>
#include <apgas/run.hpp>
#include <apgas/runtime.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/shared_mutex.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sleep.hpp>
#include <apgas/statistics.hpp>
#include <apgas/sync_var.hpp>
#include <apgas/task_local.hpp>
#include <apgas/team.hpp>
#include <apgas/uninitialized_vector.hpp>
#include <apgas/version.hpp>
#include <apgas/watched.hpp>
#include <apgas/when_all.hpp>
#include <apgas/worker_local.hpp>
#include <apgas/yield.hpp>

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <apgas/base/api.hpp>

namespace apgas::inline v0 {

// What a place, or all places together, have done since their workers started.
//
//   apgas::statistics sum;
//   for (apgas::place each : apgas::places()) {  // stats_all() does it at the same time
//     sum += apgas::at(each, [] { return apgas::stats(); });
//   }
//   assert(sum.places == apgas::places().size());
//
// The counters are always kept; each is written by one thread and read without stopping it, so two
// fields may differ by what happens between their reads. Branches of fork_join, forall and coforall
// are no tasks here, and are only counted if they are stolen.
struct statistics {
  std::uint64_t places = 0;      // whose counters these are
  std::uint64_t workers = 0;     // worker threads
  std::uint64_t elapsed_ns = 0;  // since the workers started; of several places the longest time

  // Tasks.
  std::uint64_t tasks = 0;    // that have begun, also those of the library and of other places
  std::uint64_t inlined = 0;  // of these, tasks that began without the scheduling loop: the worker
                              // of their spawner ran them one after the other
  std::uint64_t steal_attempts = 0;  // times that a worker tried another one that seemed to have
                                     // tasks
  std::uint64_t steals = 0;          // times that it took some
  std::uint64_t stolen = 0;          // tasks that were taken
  // Calls of membarrier, each of which interrupts all running threads of the process: by thieves,
  // also by those that took nothing; by workers about to sleep, also by those that found work after
  // all; and all others: by threads that take a lock of the network from its worker, by the thread
  // that polls the network while the workers compute, and by reports of waiting tasks.
  std::uint64_t fences = 0;
  std::uint64_t sleep_fences = 0;
  std::uint64_t other_fences = 0;
  std::uint64_t drains = 0;  // times that a worker was given the tasks of a suspended one
  std::uint64_t fibers = 0;  // stacks that were made, because no used one was free
  // The most that a task has used of a stack, in bytes: whole pages. Of more places the most.
  std::uint64_t deepest_stack = 0;

  // Times that a task waited and its worker ran others; and how many of them were in which
  // construct.
  std::uint64_t suspensions = 0;
  std::uint64_t finish_suspensions = 0;
  std::uint64_t branch_suspensions = 0;     // fork_join, forall, coforall
  std::uint64_t at_suspensions = 0;         // also the memory of another place
  std::uint64_t send_suspensions = 0;       // async_at that had to wait for its place
  std::uint64_t clock_suspensions = 0;      // phases of clocks
  std::uint64_t phaser_suspensions = 0;     // also accumulators
  std::uint64_t team_suspensions = 0;       // collectives
  std::uint64_t future_suspensions = 0;     // future, async_await, when_all
  std::uint64_t variable_suspensions = 0;   // sync_var, single_var
  std::uint64_t when_suspensions = 0;       // also atomic
  std::uint64_t mutex_suspensions = 0;      // also shared_mutex
  std::uint64_t condition_suspensions = 0;  // condition_variable
  std::uint64_t semaphore_suspensions = 0;  // acquire
  std::uint64_t channel_suspensions = 0;    // send, receive
  std::uint64_t latch_suspensions = 0;      // wait
  std::uint64_t blocking_suspensions = 0;   // functions given to `blocking`
  std::uint64_t sleep_suspensions = 0;      // sleep_for, sleep_until
  std::uint64_t yield_suspensions = 0;      // yield
  std::uint64_t other_suspensions = 0;      // all other constructs

  // Phases that have ended, each counted at the home of its clock or phaser.
  std::uint64_t clock_phases = 0;
  std::uint64_t phaser_phases = 0;

  // Workers without work.
  std::uint64_t sleeps = 0;     // times that a worker went to sleep
  std::uint64_t wakeups = 0;    // times that another thread woke it; otherwise a message or timer
  std::uint64_t asleep_ns = 0;  // the time that workers slept; all workers together
  std::uint64_t polls = 0;      // polls of the network and the timers

  // Messages to and from other places. Frames to one place may share a message.
  std::uint64_t frames_sent = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t task_frames_received = 0;     // each with one task or several
  std::uint64_t reply_frames_received = 0;    // to at and async_future_at
  std::uint64_t finish_frames_received = 0;   // that finishes need to end
  std::uint64_t control_frames_received = 0;  // of clocks, teams, memory and flow control
  // The bytes of these frames, with their headers.
  std::uint64_t task_bytes_received = 0;
  std::uint64_t reply_bytes_received = 0;
  std::uint64_t finish_bytes_received = 0;
  std::uint64_t control_bytes_received = 0;
  // The time that tasks took to write and read the functions, arguments and results of calls,
  // unless these are sent as their bytes. Measured with APGAS_STATS or APGAS_METRICS only.
  std::uint64_t serialization_ns = 0;

  // Adds the counters of other places. Context: any thread.
  APGAS_API statistics& operator+=(const statistics& other) noexcept;

  // The share of the time in which workers were awake, from 0 to 1. That includes searching for
  // work. Context: any thread.
  double awake() const noexcept {
    const double all = static_cast<double>(elapsed_ns) * static_cast<double>(workers);
    return all == 0 ? 0 : std::clamp(1 - static_cast<double>(asleep_ns) / all, 0.0, 1.0);
  }

  // How many frames a message had on average; 0 if none was sent. Context: any thread.
  double frames_per_message() const noexcept {
    return messages_sent == 0
               ? 0
               : static_cast<double>(frames_sent) / static_cast<double>(messages_sent);
  }
};

// The statistics of this place so far.
//
//   const apgas::statistics before = apgas::stats();
//   work();
//   std::cout << apgas::stats().steals - before.steals << " steals\n";
//
// Throws: illegal_operation outside a task; std::bad_alloc.
// Context: task; does not suspend.
// Cost: some hundred loads for each worker and each other place, and a system call for each stack
// that was ever made.
APGAS_API statistics stats();

// Returns the sum of the statistics of all places.
//
//   const apgas::statistics all = apgas::stats_all();
//   std::cout << "awake for " << 100 * all.awake() << " % of the time, "
//             << all.frames_per_message() << " frames in a message\n";
//
// Throws: illegal_operation inside `atomic` or `when`, or outside a task.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: an `at` to each place, at the same time.
APGAS_API statistics stats_all();

}  // namespace apgas::inline v0

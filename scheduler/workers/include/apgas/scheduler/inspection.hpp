// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/scheduler/scheduler.hpp>

// Looks at a scheduler from outside while its tasks run or wait, for tools that attach to a running
// program. Nothing has to be recorded for it: the fibers are found in the pool of stacks, and what
// is read of a task is used only if the task was suspended all the time.
// A task that is suspended or resumed at this moment may be left out. When a wait began is not
// known, so a report notes what waits, and a later one says for how long that is.
namespace apgas::inline v0::scheduler {

// How many tasks wait in the same construct at the same line, spawned at the same line with the
// same name. A text is empty if it is unknown; lines have the form file:line.
struct waiting_tasks {
  std::uint64_t tasks = 0;
  std::string construct;
  std::string where;
  std::string spawned;
  std::string name;
  bool main = false;     // the task is main
  std::string awaits;    // what they wait for and which tasks should act, if it is known
  double longest_s = 0;  // the longest wait among them, as far as looks have seen it
};

// What a worker does.
struct worker_report {
  enum class kind : std::uint8_t { asleep, searching, running };
  kind what = kind::asleep;
  std::string spawned;  // where the tasks that it runs were spawned, or "main"; empty: unknown
};

struct task_report {
  std::uint64_t waiting = 0;          // how many tasks are suspended
  std::vector<waiting_tasks> groups;  // the largest first
  std::vector<worker_report> workers;
  std::uint64_t queued = 0;  // tasks that have been spawned and not started, and resumed tasks
  bool at_rest = false;      // all workers sleep
  bool observed = false;     // a watchdog notes every second what waits; else only reports do
  // A sentence for each step of a cycle of tasks that wait for each other; while tasks run, of one
  // that no other task can end.
  std::string cycle;
};

// These may be called while the scheduler runs, until its destructor is.
// Throws: std::bad_alloc. Context: any thread that is no worker of this scheduler.
// Cost: the first two read a few words of each worker; report_tasks() also the record of each
// fiber that was ever made, and makes workers wait that need another one meanwhile. With `awaited`
// it says also beside running tasks what others await; those that become ready meanwhile are held.
std::vector<worker_report> what_workers_do(scheduler& of);
std::uint64_t queued_tasks(scheduler& of) noexcept;  // as task_report::queued
task_report report_tasks(scheduler& of, bool awaited = true);

// The top of the stack of a suspended task, from its stack pointer up. A switch has saved the
// registers there (context.cpp).
// A task that waits without a fiber has none: `stack_pointer` is 0.
struct suspended_stack {
  waiting_tasks task;
  std::uintptr_t stack_pointer = 0;
  std::vector<std::byte> bytes;
};

struct suspended_stacks {
  std::vector<suspended_stack> some;  // of each group of equal tasks at most a few
  std::uint64_t left_out = 0;
};

// Copies the stacks of suspended tasks, of each at most `most_bytes`. As report_tasks().
suspended_stacks copy_stacks(scheduler& of, std::size_t most_bytes);

// Whether Boost.Context switches the fibers, which saves other registers.
bool switches_by_boost() noexcept;

}  // namespace apgas::inline v0::scheduler

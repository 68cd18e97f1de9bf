// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <apgas/base/counted_fence.hpp>
#include <apgas/scheduler/inspection.hpp>
#include <apgas/scheduler/worker.hpp>

#include "caller_names.hpp"
#include "hang_explanation.hpp"
#include "wait_groups.hpp"

// The fibers of a scheduler as the watchdog sees them. They are found by going through all stacks
// that the process has ever used; a fiber belongs to the scheduler of the worker that ran it last.
// So nothing is recorded for them. Tasks that wait without a fiber are in lists
// (stackless_task.hpp).
//
//   of a fiber    written by                          read by
//   on            the worker that takes the stack     its frames, the watchdog
//   generation    the worker that runs the fiber      its frames, the watchdog
//   waits_for     the same                            the watchdog
//   the record    the waiting function, in its frame  the watchdog
//
// While tasks run, the watchdog copies a record and finds out afterwards whether it was valid all
// the time: generation and waits_for have not changed.
//
// Pairs
//   P1  leave() changes generation and then stores waits_for. The watchdog loads generation first.
//       If it sees the waits_for of a later wait, it also sees another generation in the end, and
//       it sees the complete record. A worker of another scheduler that takes the stack stores `on`
//       before that, so the watchdog then sees that the fiber is not one of its own.
//   P2  A fiber that is resumed clears waits_for, executes the light fence and then reuses the
//       frame of the record. The watchdog copies the record, executes the heavy fence and loads
//       waits_for and generation again. If it has read anything of a later frame, it sees the
//       change.
//   P3  cut_stack() makes the record of a fiber and then stores waits_for; its worker stores `on`
//       later. The watchdog, once it has seen `on`, loads waits_for and then sees the whole record.
//   P4  The watchdog can keep tasks from going on (held_tasks). It sets worker::holds_resumed,
//       executes the heavy fence and loads waits_for. A fiber that is resumed clears waits_for,
//       executes the light fence and loads holds_resumed. So a fiber whose waits_for the watchdog
//       still sees stays in leave() until holds_resumed is cleared. The store that clears it is a
//       release and the fiber's load an acquire, so what the watchdog reads happens before
//       everything that the task does next.
namespace apgas::inline v0::scheduler {

class suspended_tasks {
 public:
  using time = std::chrono::steady_clock::time_point;

  explicit suspended_tasks(const std::vector<std::unique_ptr<worker>>& workers) noexcept
      : workers_(workers) {}
  suspended_tasks(const suspended_tasks&) = delete;
  suspended_tasks& operator=(const suspended_tasks&) = delete;

  // Groups the tasks that wait, and adds them to the explanation. Notes that they wait, so that a
  // later call can say for how long at least. Requires: no task can be resumed.
  // Throws: std::bad_alloc. Context: any thread.
  void explain(wait_groups& groups, hang_explanation& explanation);

  // Adds to the explanation, while others run, the tasks that have been in the same wait for at
  // least `patience` (0: all that wait), and lets it explain; meanwhile none of them goes on. For
  // a list of edges, also adds the tasks that wait without a fiber and those that run; these may go
  // on, and one that begins, ends or waits at this moment may be left out.
  // Requires: base::membarrier_available(). Throws: std::bad_alloc. Context: any thread that is no
  // worker, or a worker with a schedule.
  void explain_long_waits(time::duration patience, hang_explanation& explanation, place_waits& to);
  // Adds the graph of all tasks, with those that run; without membarrier, a line that says why it
  // is not known. Requires: the workers run. Throws: std::bad_alloc. Context: as the one above.
  void explain_beside_running_tasks(const object_names* names, place_waits& to);

  // Groups the tasks that wait, while others run, and notes that they wait. A task that is resumed
  // or suspended at this moment may be left out. Throws: std::bad_alloc. Context: any thread.
  void group(wait_groups& groups);

  // Copies the stacks of tasks that wait, while others run; see inspection.hpp.
  // Throws: std::bad_alloc. Context: any thread.
  suspended_stacks copy_stacks(std::size_t most_bytes) const;

  // See scheduler::deepest_stack().
  std::size_t deepest_stack() const;

  // Notes since when each task has been waiting, so that the groups can say how long. The watchdog
  // calls it now and then; it does so rarely enough to take a fiftieth of the time of a thread at
  // most.
  // Throws: std::bad_alloc. Context: any thread.
  void observe();

  // How many heavy fences looks have executed so far. Context: any thread.
  std::uint64_t fences() const noexcept { return fence_.count(); }

 private:
  // A wait that a look has seen, by the number of the stack.
  struct seen_wait {
    std::uint64_t generation = 0;
    time since{};
  };

  bool owns(const fiber& f) const noexcept;
  template <class F>
  void for_each(F f) const;
  template <class Found>
  void find_waiting(Found found) const;
  template <class Found>
  void find_stackless(Found found) const;
  double waited_s(const fiber& f, std::uint64_t generation, time now) noexcept;
  bool waits_since(const fiber& f, time begin) const noexcept;
  void add_running(hang_explanation& explanation) const;

  const char* caller_of(const fiber& f, const wait_record& waits);

  const std::vector<std::unique_ptr<worker>>& workers_;
  mutable base::counted_fence fence_;
  std::mutex lock_;  // guards everything below
  caller_names callers_;
  std::vector<seen_wait> seen_;
  time observe_again_{};
};

// What a worker does at this moment, which may change while it is read.
struct worker_state {
  const fiber* on = nullptr;
  // The call_site of the task that the worker runs or ran last, as a pointer: that task may have
  // ended and its code, with the text of the site, may have been unloaded.
  const void* site = nullptr;
  const char* name = nullptr;  // of the same task
  bool main = false;           // without a spawn site it is main
  const slot* head = nullptr;
  std::uint64_t choices = 0;  // of its scheduling loop
  bool searches = false;      // the worker runs no task
  bool operator==(const worker_state&) const = default;
};
worker_state state_of(const worker& w) noexcept;

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/inspection.hpp>
#include <apgas/scheduler/worker.hpp>

#include "hang_explanation.hpp"
#include "wait_groups.hpp"

// The fibers of a scheduler as the watchdog sees them, in a list. Without a watchdog there is no
// list; then, for tools that look at a running program (inspection.hpp), all fibers of the process
// are visited instead, and those of the scheduler are recognised by their workers.
//
//   of a fiber    written by                          read by
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
//       it sees the complete record.
//   P2  A fiber that is resumed clears waits_for, executes the light fence and then reuses the
//   frame
//       of the record. The watchdog copies the record, executes the heavy fence and loads waits_for
//       and generation again. If it has read anything of a later frame, it sees the change.
namespace apgas::inline v0::scheduler {

class suspended_tasks {
 public:
  suspended_tasks() = default;
  // Visits all fibers of the process, in place of a list. The workers must outlive the object.
  explicit suspended_tasks(const std::vector<std::unique_ptr<worker>>& workers) noexcept
      : workers_(&workers) {}
  suspended_tasks(const suspended_tasks&) = delete;
  suspended_tasks& operator=(const suspended_tasks&) = delete;

  // The scheduler has taken a fiber from the pool of stacks, or will return one.
  // Context: any thread.
  void add(fiber& f) noexcept;
  void remove(fiber& f) noexcept;

  // Groups the tasks that wait, and adds them to the explanation. Requires: no task can be resumed.
  // Throws: std::bad_alloc.
  void explain(wait_groups& groups, hang_explanation& explanation);

  // Groups the tasks that wait, while others run. A task that is resumed or suspended at this
  // moment may be left out. Throws: std::bad_alloc.
  void group(wait_groups& groups);

  // Copies the stacks of tasks that wait, while others run; see inspection.hpp.
  // Throws: std::bad_alloc.
  suspended_stacks copy_stacks(std::size_t most_bytes);

 private:
  template <class Visit>
  void for_each_fiber(Visit visit);
  template <class Found>
  void find_waiting(Found found);
  bool is_of_workers(const fiber& f) const noexcept;

  const std::vector<std::unique_ptr<worker>>* workers_ = nullptr;  // null: there is a list
  base::spin_lock lock_;
  fiber* newest_ = nullptr;
};

// What a worker does at this moment, which may change while it is read.
struct worker_state {
  const fiber* on = nullptr;
  // The call_site of the task that the worker runs or ran last, as a pointer: that task may have
  // ended and its code, with the text of the site, may have been unloaded.
  const void* site = nullptr;
  const slot* head = nullptr;
  std::uint64_t choices = 0;  // of its scheduling loop
  bool searches = false;      // the worker runs no task
  bool operator==(const worker_state&) const = default;
};
worker_state state_of(const worker& w) noexcept;

}  // namespace apgas::inline v0::scheduler

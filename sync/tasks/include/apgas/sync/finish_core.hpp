// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <apgas/scheduler/worker.hpp>

// The finish of a task as its tasks see it: a counter, and what only some finishes need
// (exceptions, offers, credit at other places), which is made at the first use.
//
//   details_   written once by whoever needs it first (compare-exchange), read by everybody
//
// Pairs
//   P1  The details are complete for who reads the pointer.
namespace apgas::inline v0::sync {

struct finish_details;
class offer_box;

class finish_core : public scheduler::task_counter {
 public:
  explicit finish_core(std::int64_t pending = 1, finish_details* details = nullptr) noexcept
      : task_counter(pending), details_(details) {}

  // Null while nothing needed them.
  finish_details* details() const noexcept { return details_.load(base::acquire); }  // P1
  // Context: a task of this finish, or who holds a unit.
  finish_details& need_details();

 private:
  bool set_details(finish_details*& present, finish_details* made) noexcept {
    return details_.compare_exchange_strong(present, made, base::acq_rel, base::acquire);  // P1
  }

  base::atomic<finish_details*> details_;
};

// The finish that governs the running task.
inline finish_core& finish_of(const scheduler::fiber& task) noexcept {
  return *static_cast<finish_core*>(task.task.finish);
}

// Keeps the exception that is being handled for the finish of the running task.
// Context: a catch block of the task on `self`.
void task_failed(scheduler::fiber& self) noexcept;

// The frame of a finish: opened on the stack of its body.
class finish_frame {
 public:
  [[gnu::always_inline]] explicit finish_frame(scheduler::fiber& self) noexcept
      : outer_(self.task.finish), mark_(self) {
    self.task.finish = &core_;
  }
  finish_frame(const finish_frame&) = delete;
  finish_frame& operator=(const finish_frame&) = delete;

  finish_core& core() noexcept { return core_; }

  // Makes this the frame of a finish_reduce. Context: before the body.
  void collect(std::uint64_t reducer, std::unique_ptr<offer_box> box);

  // Runs and awaits all tasks, makes the enclosing finish the current one again, and throws what
  // tasks and body threw. Not inline: the registers it needs are saved here and not by every
  // function that has a finish in it.
  void end();
  // The same for a finish_reduce: returns what was offered.
  std::unique_ptr<offer_box> end_collecting();

 private:
  void run_own(scheduler::fiber& self) noexcept;

  scheduler::task_counter* const outer_;
  const scheduler::frame_mark mark_;
  finish_core core_;
};

}  // namespace apgas::inline v0::sync

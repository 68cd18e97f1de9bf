// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/worker.hpp>

#include <cstdint>
#include <memory>

// The finish of a task as its tasks see it: a counter, and what only some finishes need (exceptions,
// offers, credit at other places), which is made at the first use.
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
  explicit finish_core(std::int64_t units = 1, finish_details* details = nullptr) noexcept
      : task_counter(units), details_(details) {}

  // Null while nothing needed them.
  finish_details* details() const noexcept { return details_.load(base::acquire); }  // P1
  // Context: a task of this finish, or who holds a unit.
  finish_details& need_details();

 private:
  base::atomic<finish_details*> details_;  // P1
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
  explicit finish_frame(scheduler::fiber& self) noexcept
      : self_(self), outer_(self.task), generation_(self.generation), base_(self.on->tasks.head()) {
    self.task.finish = &core_;
  }
  finish_frame(const finish_frame&) = delete;
  finish_frame& operator=(const finish_frame&) = delete;

  finish_core& core() noexcept { return core_; }

  // Runs and awaits all tasks, then makes the enclosing finish the current one again.
  void wait() noexcept {
    if (self_.on->tasks.head() != base_ || self_.generation != generation_) run_own();
    if (!core_.alone()) [[unlikely]] scheduler::wait_for_others(core_);
    self_.task = outer_;
  }

  // Makes this the frame of a finish_reduce. Context: before the body.
  void collect(std::uint64_t reducer, std::unique_ptr<offer_box> box);
  // close() of one: what was offered. Context: after wait(), once.
  std::unique_ptr<offer_box> close_collecting();

  // Throws what tasks and body threw. Context: after wait(), once.
  void close() {
    if (core_.details() != nullptr) [[unlikely]] close_details();
  }

 private:
  // Children have no name, no clocks, and their own site.
  void run_own() noexcept {
    self_.task = {.finish = &core_};
    scheduler::run_children(self_, base_, generation_);
  }
  void close_details();

  scheduler::fiber& self_;
  const scheduler::task_state outer_;
  const std::uint64_t generation_;
  scheduler::slot* const base_;
  finish_core core_;
};

}  // namespace apgas::inline v0::sync

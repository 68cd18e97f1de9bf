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
  explicit finish_core(std::int64_t units = 1, finish_details* details = nullptr) noexcept
      : task_counter(units), details_(details) {}

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
      : self_(self),
        outer_(self.task.finish),
        generation_(self.generation),
        base_(self.on->tasks.head()) {
    self.task.finish = &core_;
  }
  finish_frame(const finish_frame&) = delete;
  finish_frame& operator=(const finish_frame&) = delete;

  finish_core& core() noexcept { return core_; }

  // Makes this the frame of a finish_reduce. Context: before the body.
  void collect(std::uint64_t reducer, std::unique_ptr<offer_box> box);

  // Runs and awaits all tasks, makes the enclosing finish the current one again, and throws what
  // tasks and body threw.
  [[gnu::always_inline]] void end() {
    run_own();
    if (!core_.untouched()) [[unlikely]] {
      finish_slowly(self_, core_, outer_);
      return;
    }
    self_.task.finish = outer_;
  }
  // The same for a finish_reduce: returns what was offered.
  std::unique_ptr<offer_box> end_collecting();

 private:
  // Children have no name, no clocks, and their own site.
  [[gnu::always_inline]] void run_own() noexcept {
    if (self_.task.special) [[unlikely]] {
      run_children_of_special(self_, base_, generation_);
      return;
    }
    const std::source_location site = self_.task.site;
    scheduler::run_children(self_, base_, generation_);
    self_.task.site = site;
  }

  // Static, so that the frame's members need not lie in memory.
  static void run_children_of_special(scheduler::fiber& self, scheduler::slot* base,
                                      std::uint64_t generation) noexcept;
  static void finish_slowly(scheduler::fiber& self, finish_core& core,
                            scheduler::task_counter* outer);

  scheduler::fiber& self_;
  scheduler::task_counter* const outer_;
  const std::uint64_t generation_;
  scheduler::slot* const base_;
  finish_core core_;
};

}  // namespace apgas::inline v0::sync

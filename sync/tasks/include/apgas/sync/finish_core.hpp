// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/worker.hpp>

// A finish as its tasks see it: a counter of tasks, and details that only some finishes need
// (exceptions, values offered to a finish_reduce, credit at other places). The details are created
// when they are first needed.
//
//   details_   written once, by the thread that first needs them (compare-exchange); read by all
//
// Pairs
//   P1  A thread that reads a non-null details_ sees the fully constructed details.
namespace apgas::inline v0::sync {

struct finish_details;
struct place_state;
class offer_box;

class finish_core : public scheduler::task_counter {
 public:
  explicit finish_core(std::int64_t pending = 1, finish_details* details = nullptr) noexcept
      : task_counter(pending), details_(details) {}

  // Returns the details; null if nothing has needed them so far.
  finish_details* details() const noexcept { return details_.load(base::acquire); }  // P1
  // Returns the details, creating them if necessary. `here` is the place of the finish. Context: a
  // task of this finish, or any thread that holds a pending count of it. Throws: std::bad_alloc.
  finish_details& ensure_details(const place_state& here);

 private:
  bool set_details(finish_details*& present, finish_details* made) noexcept {
    return details_.compare_exchange_strong(present, made, base::acq_rel, base::acquire);  // P1
  }

  base::atomic<finish_details*> details_;
};

// Returns the finish that governs the running task.
inline finish_core& finish_of(const scheduler::fiber& task) noexcept {
  return *static_cast<finish_core*>(task.task.finish);
}

// Records the exception that is being handled in the finish of the running task.
// Context: a catch block of the task on `self`.
APGAS_API void task_failed(scheduler::fiber& self) noexcept;

// The frame of a finish. It lives on the stack of the finish's caller, while the body runs.
class finish_frame {
 public:
  // Makes this the innermost finish of the task.
  [[gnu::always_inline]] explicit finish_frame(scheduler::fiber& self) noexcept
      : outer_(self.task.finish), mark_(self) {
    self.task.finish = &core_;
  }
  finish_frame(const finish_frame&) = delete;
  finish_frame& operator=(const finish_frame&) = delete;

  finish_core& core() noexcept { return core_; }

  // Makes this the frame of a finish_reduce whose values are reduced in `box`; `reducer` is the
  // handler that makes such a box at other places. Context: before the body runs.
  APGAS_API void collect(std::uint64_t reducer, std::unique_ptr<offer_box> box);

  // Runs the children that were not stolen, waits for all tasks, makes the enclosing finish the
  // innermost one again, and throws what tasks and body threw. `where` is the line for reports.
  // Throws: multiple_exceptions. Context: task. May suspend and resume on another worker.
  [[gnu::always_inline]] void end(const scheduler::call_site& where) {
    if (!end_at_once(where)) [[unlikely]]
      wait(where);
  }
  // The same for a finish_reduce. Returns the box with what was offered.
  APGAS_API std::unique_ptr<offer_box> end_collecting(const scheduler::call_site& where);

 private:
  // The two parts of end(). They are not inline, so that the registers which they need are saved
  // there and not in every function that contains a finish. The first returns whether the finish
  // has ended; if not, the second must be called.
  APGAS_API bool end_at_once(scheduler::call_site where) noexcept;
  APGAS_API void wait(const scheduler::call_site& where);
  void run_own(scheduler::fiber& self, const scheduler::call_site& where) noexcept;

  scheduler::task_counter* const outer_;
  const scheduler::frame_mark mark_;
  finish_core core_;
};

}  // namespace apgas::inline v0::sync

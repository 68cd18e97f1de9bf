// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/api.hpp>
#include <apgas/sync/coroutine_runner.hpp>
#include <apgas/sync/finish_core.hpp>

// The frame of a finish in a coroutine: as finish_frame, but it lies in the frame of the coroutine,
// which may move from fiber to fiber while the finish is open, and it waits without a fiber.
namespace apgas::inline v0::sync {

// NOLINTNEXTLINE(misc-multiple-inheritance): it waits for its counter on behalf of a coroutine
class APGAS_API finish_scope final : public awaited_event, scheduler::counter_observer {
 public:
  // Makes this the innermost finish of the running task, for a call at `where`. Context: task.
  explicit finish_scope(const scheduler::call_site& where);

  // Records the exception that is being handled. Context: a catch block of the task.
  static void failed() noexcept;

  // Ends the body: drops the clocks that the task made in it, and runs the children that nobody has
  // stolen. Returns whether no task is left.
  // Context: task that may suspend; may resume on another worker.
  bool ready() noexcept;
  bool notify(coroutine_runner& waiting) noexcept override;
  scheduler::wait_record waits() const noexcept override {
    return {"finish", static_cast<const scheduler::task_counter*>(&core_), where_};
  }
  // Makes the enclosing finish the innermost one again. Throws: multiple_exceptions with what tasks
  // and body threw.
  void result();

 private:
  void on_zero() noexcept override { runner_->wake(); }

  const scheduler::fiber* const begun_on_;
  scheduler::task_counter* const outer_;
  const scheduler::frame_mark mark_;
  const scheduler::call_site where_;
  finish_core core_;
  coroutine_runner* runner_ = nullptr;
};

}  // namespace apgas::inline v0::sync

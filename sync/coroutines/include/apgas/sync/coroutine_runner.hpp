// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/stackless_task.hpp>
#include <apgas/sync/finish_core.hpp>

// Running coroutines inside tasks of the runtime.
//
// A *runner* resumes the coroutines of one task, one at a time: the coroutine that was started, the
// ones which it awaits, and so on. A coroutine that awaits another one does not call it. It names
// it as the next one and returns to the runner, and a coroutine that ends does the same with the
// one that awaits it. So a chain of awaiting coroutines of any length needs the stack of one of
// them. This is the symmetric transfer of C++20 without its condition that the compiler makes tail
// calls, which g++ does not without optimisation.
//
// A coroutine that waits for an event returns to the runner as well, which decides what waiting
// means: a started coroutine leaves its fiber, and sync_wait suspends its fiber.
namespace apgas::inline v0::sync {

class coroutine_runner;

// An event that a coroutine waits for. The object lives in the frame of the coroutine. The function
// that makes a coroutine wait calls, in this order: ready() in the coroutine; if it returns false,
// notify() when the coroutine is suspended; and result() in the coroutine, once the event has come.
// Derived classes define ready() and result().
class awaited_event {
 public:
  awaited_event(const awaited_event&) = default;
  awaited_event& operator=(const awaited_event&) = default;

  // Arranges that waiting.wake() is called once, when the event has come, and returns true. Then
  // the coroutine may already run again, and this object may be gone. Returns false if the event
  // has come already; then wake() is not called.
  // Context: worker; must not suspend and must not run user code.
  virtual bool notify(coroutine_runner& waiting) noexcept = 0;
  // Returns what reports show for a task that waits for the event.
  virtual scheduler::wait_record waits() const noexcept = 0;

 protected:
  awaited_event() = default;
  ~awaited_event() = default;
};

class APGAS_API coroutine_runner {
 public:
  coroutine_runner() = default;
  coroutine_runner(const coroutine_runner&) = delete;
  coroutine_runner& operator=(const coroutine_runner&) = delete;

  // The event of which the coroutine was suspended has come. Context: any thread, once for each
  // call of notify() that returned true; runs no user code.
  virtual void wake() noexcept = 0;

  // Called by a coroutine that is being suspended. The first continues with `next`, or ends the run
  // if it is null; the second waits for the event and then continues with `waiting`.
  void continue_with(std::coroutine_handle<> next) noexcept { next_ = next; }
  void wait_for(awaited_event& event, std::coroutine_handle<> waiting) noexcept {
    event_ = &event;
    next_ = waiting;
  }

 protected:
  ~coroutine_runner() = default;
  // Resumes coroutines until one waits for an event, which is returned, or until the last one has
  // ended, and then returns null. Context: task. May resume on another worker.
  const awaited_event* event() const noexcept { return event_; }
  awaited_event* run_until_wait() {
    event_ = nullptr;
    do {
      std::exchange(next_, nullptr).resume();
    } while (event_ == nullptr && next_ != nullptr);
    return event_;
  }

 private:
  std::coroutine_handle<> next_;
  awaited_event* event_ = nullptr;
};

// The runner of a coroutine that was started as a task. While the coroutine waits, it holds no
// fiber and no stack: the state of the task moves from the fiber to this object, which holds a
// count of the task's finish. When the event has come, the runner is submitted to the scheduler as
// an external task, and takes the state to the fiber on which it runs next. Reports find it in a
// table of the process.
// NOLINTNEXTLINE(misc-multiple-inheritance): two bases for the scheduler, one for the coroutines
class APGAS_API started_coroutine : public coroutine_runner,
                                    scheduler::external_task,
                                    scheduler::stackless_task {
 public:
  // Begins the run. `this` must not be used afterwards. Context: the task that was spawned for it.
  void start(scheduler::fiber& self);

  void wake() noexcept override;

 protected:
  started_coroutine() = default;
  ~started_coroutine() = default;

  // Called when the last coroutine has ended, with the state of the task on the fiber. It must
  // deliver the result and destroy this object. Context: task.
  virtual void ended(scheduler::fiber& self) noexcept = 0;

 private:
  enum class outcome { has_ended, waits };

  static scheduler::task_counter* run_again(external_task* work, scheduler::fiber& self) noexcept;
  void move_state_from(scheduler::fiber& self) noexcept;
  scheduler::wait_record waits() const noexcept override { return event()->waits(); }
  const scheduler::task_counter* outermost() const noexcept override { return finish_; }

  finish_core* finish_ = nullptr;  // of the task; a coroutine may be inside an inner finish
};

// The runner of a coroutine that the calling task waits for. While the coroutine waits, the fiber
// of the task is suspended.
class APGAS_API awaited_coroutine final : public coroutine_runner {
 public:
  // Runs the coroutine to its end. Context: task that may suspend; may resume on another worker.
  void run();
  void wake() noexcept override { scheduler::resume(fiber_); }

 private:
  scheduler::fiber* fiber_ = nullptr;
};

}  // namespace apgas::inline v0::sync

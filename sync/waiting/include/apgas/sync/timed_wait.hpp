// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/api.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/worker.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/handoff.hpp>
#include <apgas/sync/wait_queue.hpp>

// Waits that end at a deadline. A task that waits is in a list of a construct, such as the queue of
// a mutex, and has a timer in the scheduler. Exactly one of the two resumes the task: the thread
// that removes the task from the list, under the lock of the construct. Threads that hand something
// over take the task from the list and resume it as they do for a wait without a deadline; they
// need not know of the timer. A timer that expires takes the task from the list if it is still
// there. So whatever is handed to a task stays with it, even if its timer expires meanwhile, and
// nothing is handed to a task that has timed out.
//
// The timer lives on the stack of the task, beside the entry in the list. A task that was served
// therefore cancels its timer before it goes on; if the timer has expired already and is on its way
// to run, the task waits until it has run. That takes the time until a worker next looks for
// external tasks, and the deadline has passed by then.
//
//   state_      written under the lock of the construct, by the code that suspends the task and
//               by the timer; read by both, and by the task after it was resumed
//
//                  enter()                 expire()
//   starting ───────────────▶ listed ─────────────────────▶ expired
//     │  │                                                     ▲
//     │  └───────▶ served     expire()                         │
//     └────────────────────────────────────────────────────────┘
//   A task that is taken from the list by a thread which serves it stays `listed`.
//
// Invariants
//   I1  The task is resumed once: by the thread that removed it from the list, or by the code that
//       suspends it if it was never in the list.
//   I2  After end() has returned, no thread accesses the object: the timer has expired and released
//       the lock, or it was cancelled, or it has signalled gone_.
//   I3  The construct outlives the timer, because the wait of the task has not returned before.
//
// There are no ordering pairs here. The lock of the construct orders the accesses to the list and
// to state_; scheduler::resume() and gone_ (P1 of handoff.hpp) order them before the task goes on.
namespace apgas::inline v0::sync {

// The timer of a task that waits in a list. It lives on the stack of the task, and is used once.
class wait_timer : private scheduler::external_task {
 public:
  // `lock` guards the list. withdraw(entry), called under the lock, removes the task from the list
  // if it is there, and returns whether it was.
  APGAS_API wait_timer(base::spin_lock& lock, bool (*withdraw)(void* entry) noexcept,
                       void* entry) noexcept;
  wait_timer(const wait_timer&) = delete;
  wait_timer& operator=(const wait_timer&) = delete;

  // Starts the timer. Throws: std::bad_alloc, after which there is no timer. Context: the task.
  APGAS_API void start(deadline when);

  // Calls enlist(), which adds the task to the list and returns true, or returns false if the task
  // need not wait. Does not call it if the timer has expired. Returns whether the task is in the
  // list; if not, the caller resumes it. Context: the code that suspends the task, under the lock.
  template <class Enlist>
  bool enter(scheduler::fiber* self, Enlist& enlist) noexcept {
    if (state_ == state::expired) return false;
    task_ = self;
    state_ = enlist() ? state::listed : state::served;
    return state_ == state::listed;
  }

  // Ends the wait, and returns whether the task was served; if not, the timer has expired.
  // Context: the task, after it was resumed. May suspend and resume on another worker.
  APGAS_API bool end(const scheduler::wait_record& waits_for) noexcept;

 private:
  enum class state : std::uint8_t { starting, listed, served, expired };

  void expire() noexcept;

  // Written by the task before it starts the timer.
  base::spin_lock& lock_;
  bool (*withdraw_)(void*) noexcept;
  void* entry_;
  scheduler::scheduler* home_ = nullptr;
  deadline when_{};

  // Written under lock_.
  state state_ = state::starting;
  scheduler::fiber* task_ = nullptr;

  handoff gone_;  // signalled by a timer that has expired too late
};

// Suspends the running task until another thread takes it from a list, or until `when`. Returns
// whether the task was served: taken from the list, or not added because it need not wait.
//   enlist(self)  is called under `lock`; adds the fiber to the list and returns true, or returns
//                 false if the task need not wait
//   withdraw()    is called under `lock`; removes the task from the list if it is there, and
//                 returns whether it was
//   unlocked()    is called once, when the task is in the list or will not be, without the lock;
//                 uses nothing on the stack of the task
// Throws: std::bad_alloc, before it has called any of them.
// Context: task that may suspend; may resume on another worker. Cost: an allocation, and two short
// locks of the scheduler: about 80 ns more than suspend() and resume(), measured with a semaphore
// that two tasks of one worker hand to each other.
template <class Enlist, class Withdraw, class Unlocked>
bool suspend_until(const scheduler::wait_record& waits_for, base::spin_lock& lock, deadline when,
                   Enlist enlist, Withdraw withdraw, Unlocked unlocked) {
  wait_timer timer(
      lock, [](void* entry) noexcept { return (*static_cast<Withdraw*>(entry))(); }, &withdraw);
  timer.start(when);
  scheduler::wait_record timed = waits_for;
  timed.timed = true;
  scheduler::suspend(timed, [&timer, &lock, &enlist, unlocked](scheduler::fiber* self) {
    auto add = [&enlist, self] { return enlist(self); };
    lock.lock();
    const bool waits = timer.enter(self, add);
    lock.unlock();
    unlocked();
    if (!waits) scheduler::resume(self);
  });
  return timer.end(waits_for);
}

// As queue_unless(), until `when` at the latest. Returns whether proceed() returned true or another
// thread took the task from the queue. If `when` has passed, it calls proceed() once and does not
// suspend.
// Throws: std::bad_alloc; then the task has not been in the queue.
// Context: task that may suspend; may resume on another worker.
template <class Proceed>
bool queue_until(const scheduler::wait_record& waits_for, base::spin_lock& lock, wait_queue& queue,
                 queued_task& me, deadline when, Proceed proceed) {
  if (when <= scheduler::time_of_task()) {
    lock.lock();
    const bool proceeds = proceed();
    lock.unlock();
    return proceeds;
  }
  return suspend_until(
      waits_for, lock, when,
      [&](scheduler::fiber* self) {
        me.task = self;
        const bool waits = !proceed();
        if (waits) queue.push(me);
        return waits;
      },
      [&] { return queue.remove(me); }, [] {});
}

// The same with an entry of its own.
template <class Proceed>
bool queue_until(const scheduler::wait_record& waits_for, base::spin_lock& lock, wait_queue& queue,
                 deadline when, Proceed proceed) {
  queued_task me;
  return queue_until(waits_for, lock, queue, me, when, proceed);
}

}  // namespace apgas::inline v0::sync

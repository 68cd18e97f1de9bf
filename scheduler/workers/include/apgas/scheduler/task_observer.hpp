// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/scheduler/worker.hpp>

// Observing a run: the interface that the trace and the profile of work and span implement. An
// observer is told of every task, also of those that the frame which spawned them runs itself, and
// of what the workers do between tasks. A run has at most one observer (worker::observer);
// observer_pair passes the events on to two. The observation may begin and end at any time
// (scheduler::observe()): an observer is not told of tasks that run already, and not of all that
// has happened to the tasks of which it is told.
//
// A run without an observer executes no instruction for this purpose where tasks are spawned, run
// and joined. In an observed run these paths take turnings that exist anyway:
//
//   spawn   Every push to the deque asks for attend(), where observe_spawn() rewrites the slot: it
//           gets the function run_observed, and the address of an observed_task in the place of the
//           second word of its closure. A thief does not take a slot that was not rewritten.
//   run     Whoever runs the slot calls run_observed, which tells the observer of begin and end.
//   join    The tag of a branch is changed, so that its fork does not find it on the fast path, but
//           in take_back_or_wait(). That tells the observer of the begin, and gives the task an
//           attribute (is_observed_branch), for which clear_attributes() tells it of the end.
//   finish  The first spawn into a finish sets the waiter bit of its counter. So the end of the
//           finish does not take the fast path, and tells the observer.
//   switch  The workers of an observed run batch no arrivals, so tasks that wait for a clock or a
//           phaser do not switch to each other directly.
namespace apgas::inline v0::scheduler {

// A task of an observed run, from its spawn to its end.
struct observed_task {
  // Of the slot: its function, and the word of its closure that was replaced.
  slot_function run = nullptr;
  std::uint64_t closure_word = 0;
  // The counter of its finish or, for a branch, of its join. Of an external task it is known at its
  // end, and null if the task counts nowhere.
  task_counter* counter = nullptr;
  std::source_location site{};  // where it was spawned; line 0: not known yet, see described()
  // While it runs: the task below it on the same stack, which waits for it or has spawned a finish
  // in which it runs. Null if the scheduling loop has started it.
  observed_task* below = nullptr;
  std::uint64_t id = 0;     // counts from 1 at this place; no two tasks have the same
  std::uint64_t cause = 0;  // of an external task: the result of submits()
  bool is_branch = false;   // of a fork_join, forall or coforall
  bool is_external = false;
  std::uint32_t began_on = 0;  // for the trace: the worker that ran it first, and one

  // What observers know of the task: the trace uses data[0], the profile of work and span data[1].
  static constexpr std::size_t observers_max = 2;
  std::uint64_t data[observers_max][2] = {};
};

// What a worker does between tasks.
enum class worker_activity : std::uint8_t {
  search,  // looks for work
  sleep,   // sleeps, because there was no work; lies inside a search
  steal,   // has taken tasks from another worker; the detail is their number << 32 | the victim
  poll,    // has received messages
};

// Every function is called on the thread of a worker or, where it says so, on any thread. None may
// suspend, throw, or spawn tasks. Times are not passed: an observer that needs the time calls
// base::cycles().
class task_observer {
 public:
  task_observer() = default;
  task_observer(const task_observer&) = delete;
  task_observer& operator=(const task_observer&) = delete;
  virtual ~task_observer() = default;

  // The task parent.observed (null: a task that is not observed) has spawned `child`. The spawner
  // goes on; the child may begin on another thread as soon as this returns.
  virtual void spawned(fiber& parent, observed_task& child) noexcept {
    static_cast<void>(parent), static_cast<void>(child);
  }
  // `task` begins on worker `self.on`, or ends there. In between, self.observed == &task while no
  // other task runs on top of it.
  virtual void begins(fiber& self, observed_task& task) noexcept {
    static_cast<void>(self), static_cast<void>(task);
  }
  virtual void ends(fiber& self, observed_task& task) noexcept {
    static_cast<void>(self), static_cast<void>(task);
  }
  // The spawn site and the name of the running task, which are in self.task, have become known. It
  // is self.observed, unless that is null. The text of the name may end with the task.
  virtual void described(fiber& self) noexcept { static_cast<void>(self); }

  // The task on `self` leaves its worker `self.on`, together with all tasks below it, because it
  // waits for `why`.
  virtual void suspends(fiber& self, const wait_record& why) noexcept {
    static_cast<void>(self), static_cast<void>(why);
  }
  // It goes on, on worker `self.on`. `cause` is the result of makes_ready(), or the number of the
  // frame that had come before the task was suspended (trace::frame_flow()). It is 0 if the task
  // that this worker ran last has ended and thereby resumed it directly.
  virtual void resumes(fiber& self, std::uint64_t cause) noexcept {
    static_cast<void>(self), static_cast<void>(cause);
  }
  // The caller makes the suspended fiber `f` ready, or submits an external task. The result is
  // passed on to resumes(), or becomes the cause of the external task. It is not called for a fiber
  // whose cause is known (resume with a cause).
  // Context: any thread.
  virtual std::uint64_t makes_ready(const fiber& f) noexcept {
    static_cast<void>(f);
    return 0;
  }
  virtual std::uint64_t submits() noexcept { return 0; }

  // All tasks of the finish or join `counter`, which is at the line `where` (0: unknown), and into
  // which the running task has spawned some, have ended. For a branch that its fork has run itself,
  // this follows ends().
  virtual void joined(fiber& self, const task_counter& counter, const call_site& where) noexcept {
    static_cast<void>(self), static_cast<void>(counter), static_cast<void>(where);
  }

  // The running task sends a task of `finish` to another place, the first one of that finish.
  virtual void reaches_places(const task_counter& finish) noexcept { static_cast<void>(finish); }
  // The running task, the body of an `at`, is about to reply. It no longer counts in `finish`,
  // although it has not ended.
  virtual void replies(const task_counter& finish) noexcept { static_cast<void>(finish); }
  // Nothing is left at this place of `finish`, whose home is another place. The credit of its tasks
  // that have ended goes back: with the reply of the running task, or in the next frame about a
  // finish that this thread sends. Afterwards the counter may serve another finish.
  // Context: any thread, also with a lock held.
  virtual void returns(const task_counter& finish, bool with_reply) noexcept {
    static_cast<void>(finish), static_cast<void>(with_reply);
  }

  // The caller lets an event happen for which tasks may wait, now or later: a future gets its
  // value. Context: any thread.
  virtual void published(const void* event) noexcept { static_cast<void>(event); }
  // The running task has waited for an event, or has found that it had happened already.
  virtual void awaited(fiber& self, const void* event) noexcept {
    static_cast<void>(self), static_cast<void>(event);
  }

  // The phase for which the tasks of the batch source `node` waited is complete; they are made
  // ready next. `of` is the record of one of them, or null. Context: worker.
  virtual void phase_ends(const void* node, const wait_record* of) noexcept {
    static_cast<void>(node), static_cast<void>(of);
  }

  // Worker `w` begins to search or to sleep; worker_did() follows, unless the run ends before.
  virtual void worker_begins(worker& w, worker_activity what) noexcept {
    static_cast<void>(w), static_cast<void>(what);
  }
  // Worker `w` has done something from the time `begun`, in cycles, until now.
  virtual void worker_did(worker& w, worker_activity what, std::uint64_t begun,
                          std::uint64_t detail) noexcept {
    static_cast<void>(w), static_cast<void>(what), static_cast<void>(begun);
    static_cast<void>(detail);
  }
};

// Tells of the begin and the end of a branch that its fork runs itself.
// Context: the task of the fork.
void observed_branch_begins(fiber& self, observed_task& branch) noexcept;

// Tells an observer, if there is one, that the finish or join `counter` has ended.
// Context: task.
inline void observe_join(fiber& self, const task_counter& counter,
                         const call_site& where) noexcept {
  if (task_observer* const observer = self.on->observer.get()) [[unlikely]]
    observer->joined(self, counter, where);
}

// Tells an observer, if there is one, of an event. Context: any thread.
inline void observe_publication(const void* event) noexcept {
  const fiber* const self = current_fiber();
  if (self == nullptr) return;
  if (task_observer* const observer = self->on->observer.get()) [[unlikely]]
    observer->published(event);
}
// Returns whether the run has an observer. Context: task.
inline bool is_observed() noexcept { return fiber_of_this_stack()->on->observer.get() != nullptr; }
// Tells an observer, if there is one, that the calling task has waited for an event.
// Context: task.
inline void observe_wait(const void* event) noexcept {
  fiber& self = *fiber_of_this_stack();
  if (task_observer* const observer = self.on->observer.get()) [[unlikely]]
    observer->awaited(self, event);
}

}  // namespace apgas::inline v0::scheduler

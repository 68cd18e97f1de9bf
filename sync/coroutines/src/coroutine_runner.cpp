// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/coroutine_runner.hpp>

#include <apgas/sync/task.hpp>

namespace apgas::inline v0::sync {

// Leaves the fiber to the code below on its stack, as if the task had ended there. Children that
// the coroutine spawned into the finish of the task are still covered by the count, or the frame,
// of the code that runs it. Those of an inner finish are not. So they are counted now, and frames
// on this stack no longer take them from the deque.
void started_coroutine::move_state_from(scheduler::fiber& self) noexcept {
  state = self.task;
  self.task = {.finish = finish_};
  scheduler::flush_arrivals(*self.on);
  if (state.finish == finish_) return;
  self.on->tasks.publish();
  ++self.generation;
  self.base = self.on->tasks.head();
}

void started_coroutine::start(scheduler::fiber& self) {
  home_ = self.on->home;
  finish_ = &finish_of(self);
  external_task::run = &run_again;
  while (awaited_event* const event = run_until_wait()) {
    finish_core& finish = *finish_;
    move_state_from(self);
    finish.add(1);
    begin_wait(*self.on, event->waits());
    if (event->notify(*this)) return;
    end_wait();
    finish.add(-1);  // not the last one: the code that runs this task holds another
    self.task = state;
  }
  leave_table();
  ended(self);
}

scheduler::task_counter* started_coroutine::run_again(external_task* work,
                                                      scheduler::fiber& self) noexcept {
  auto& runner = *static_cast<started_coroutine*>(work);
  finish_core& finish = *runner.finish_;
  runner.end_wait();
  self.task = runner.state;
  scheduler::task_described(self);
  ++self.generation;  // an inner finish that began on this fiber finds its children from here on
  self.base = self.on->tasks.head();
  const std::uint64_t generation = self.generation;
  const scheduler::slot* const lowest = self.base;
  while (awaited_event* const event = runner.run_until_wait()) {
    runner.move_state_from(self);
    const bool has_children =
        self.on->tasks.head() != (self.generation == generation ? lowest : self.base);
    // The count of this run stays with the coroutine, unless children need it.
    if (has_children) finish.add(1);
    runner.begin_wait(*self.on, event->waits());
    if (event->notify(runner)) return has_children ? &finish : nullptr;
    runner.end_wait();
    if (has_children) finish.add(-1);
    self.task = runner.state;
  }
  runner.leave_table();
  runner.ended(self);
  return &finish;
}

void started_coroutine::wake() noexcept { home_->submit(this); }

void awaited_coroutine::run() {
  while (awaited_event* const event = run_until_wait()) {
    scheduler::suspend(event->waits(), [this, event](scheduler::fiber* self) {
      fiber_ = self;
      if (!event->notify(*this)) scheduler::resume(self);
    });
  }
}

}  // namespace apgas::inline v0::sync

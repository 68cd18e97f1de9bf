// SPDX-License-Identifier: Apache-2.0
#include <apgas/sleep.hpp>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/handoff.hpp>

namespace apgas::inline v0::sync {
namespace {

// A timer that resumes its task. It lives on the stack of the task.
struct sleeping_task : scheduler::external_task {
  handoff awake;
};

scheduler::task_counter* wake(scheduler::external_task* timer, scheduler::fiber&) noexcept {
  static_cast<sleeping_task*>(timer)->awake.signal();
  return nullptr;
}

}  // namespace

void sleep_task(scheduler::fiber& self, deadline when, const scheduler::wait_record& waits_for) {
  if (when <= self.on->home->now()) {
    scheduler::yield();
    return;
  }
  sleeping_task sleeper;
  sleeper.run = &wake;
  self.on->home->submit_at(when, &sleeper);
  sleeper.awake.wait(waits_for);
}

}  // namespace apgas::inline v0::sync

// SPDX-License-Identifier: Apache-2.0
#include <apgas/sleep.hpp>

#include <apgas/blocking.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/handoff.hpp>

// Tasks that wait for something outside of the tasks: a time, or a thread that may block.
namespace apgas::inline v0::sync {
namespace {

struct sleeping_task : scheduler::injected {
  handoff awake;
};

scheduler::task_counter* wake(scheduler::injected* due, scheduler::fiber&) noexcept {
  static_cast<sleeping_task*>(due)->awake.signal();
  return nullptr;
}

}  // namespace

void sleep_task(scheduler::fiber& self, deadline when) {
  if (when <= deadline::clock::now()) {
    scheduler::yield();
    return;
  }
  sleeping_task sleeper;
  sleeper.run = &wake;
  self.on->home->inject_at(when, &sleeper);
  sleeper.awake.wait("sleep_for");
}

void run_blocking(scheduler::fiber& self, void (*run)(void*) noexcept, void* call) {
  struct {
    void (*run)(void*) noexcept;
    void* call;
    handoff done;
  } job{run, call, {}};
  self.on->home->run_on_helper([&job] {
    job.run(job.call);
    job.done.signal();
  });
  job.done.wait("blocking");
}

}  // namespace apgas::inline v0::sync

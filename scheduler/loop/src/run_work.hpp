// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/cycles.hpp>

#include "implementation.hpp"

// What a scheduling loop chooses, and how it runs a task: for the usual loop (loop.cpp) and for
// that of a seeded schedule (seeded_loop.cpp). The context of all functions is: worker, in its
// scheduling loop. They are inline in each loop, because a call would cost as much as a short task.
namespace apgas::inline v0::scheduler {

// The work that was chosen: a resumed fiber, an external task, or the slot `task`.
struct work {
  fiber* resumed = nullptr;
  external_task* external = nullptr;
  bool in_slot = false;
  slot task;
  explicit operator bool() const { return resumed != nullptr || external != nullptr || in_slot; }
};

[[gnu::always_inline]] inline void run_slot(fiber& self, slot& s) {
  if (s.kind() == slot_kind::continuation) {
    fiber& spawner = spawner_of(s);
    ++spawner.generation;
    switch_to(self, spawner, cache_fiber, self.on);
    return;
  }
  const bool is_task = s.is_task();  // read now, because the slot may be reused
  if (is_task) self.on->count.loop_tasks.add_one();
  task_counter& counter = *s.counter();
  const frame_mark mark(self);
  self.task = {.finish = &counter, .site = s.site};
  self.outermost = &counter;
  self.base = mark.base;
  const std::uint64_t begun = self.on->pace.awaits_work() ? base::cycles() : 0;
  s.run(s, self);
  if (self.task.rare.has_attributes != 0) clear_attributes(self);
  if (is_task) {
    run_children(self, mark);
  } else {
    self.on->tasks.publish();  // children of a branch may wait for code after the join
  }
  if (begun != 0 && self.generation == mark.generation) [[unlikely]] {
    self.on->pace.worked(base::cycles() - begun);
  }
  complete(self, counter);
}

[[gnu::always_inline]] inline void run_external_task(fiber& self, external_task& i) {
  const frame_mark mark(self);
  self.on->count.loop_tasks.add_one();
  self.task = {};
  self.outermost = nullptr;
  task_counter* const counter =
      self.on->observer.get() == nullptr ? i.run(&i, self) : run_observed_external(i, self);
  if (self.task.rare.has_attributes != 0) clear_attributes(self);
  run_children(self, mark);
  self.allowance = 0;  // of that task
  if (counter != nullptr) complete(self, *counter);
}

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "implementation.hpp"

// Draining: keeps the deque short. A task that spawns a million others would fill the memory, and
// its slots would not fit the caches. So when some hundreds of its tasks wait in the deque, a
// spawner is suspended inside its spawn. Another fiber of the same worker, the *drain fiber*, runs
// the tasks, newest first, and then returns to the spawner. docs/protocols/drain.md describes the
// protocol.
//
//          floor                           head
//   ... |  continuation of the spawner  |  its tasks ...  |
//
// The continuation of the spawner lies below the tasks, as a slot. A thief that finds nothing older
// takes it, and the spawner continues on the thief. So a long task that the drain fiber runs does
// not hold up the spawner.
//
// Invariants
//   I1  The counter of all drained slots is that of the spawner's innermost finish, F. No slot of a
//       join is drained.
//   I2  The counter of the continuation is that of F, too. The thread that counts the continuation
//       when it leaves the frame (a thief, or the owner in publish() when the drain fiber is
//       suspended) thereby gives the drain fiber a count of F. This count covers the task that the
//       drain fiber runs and those that it has not run yet; the drain fiber releases it at its end.
//       The continuation is not a task, so running it releases no count.
//   I3  A spawner that is entered through its continuation slot is detached: its generation is
//       incremented, so its frames do not look for slots in the deque. A spawner that the drain
//       fiber enters finds its frames and slots as they were.
namespace apgas::inline v0::scheduler {
namespace {

constexpr std::uint64_t drains_per_look = 4;  // between looks for other work

slot continuation_of(fiber& spawner) {
  slot s{};
  s.tagged_counter = slot::tag(spawner.task.finish, slot_kind::continuation);
  fiber* f = &spawner;
  std::memcpy(s.closure, &f, sizeof f);
  return s;
}

// Returns the lowest slot that can be drained: it and all slots above it are tasks of the innermost
// finish of `self`, and the owner may take them without the lock.
slot* lowest_drainable(fiber& self) {
  deque<slot>& tasks = self.on->tasks;
  slot* s = tasks.head();
  const slot* const end = tasks.lowest_private();
  while (s > end && s[-1].counter() == self.task.finish && s[-1].is_task()) --s;
  return s;
}

void return_to_spawner(fiber& self) noexcept {
  fiber& spawner = *self.spawner;
  self.spawner = nullptr;
  switch_to(self, spawner, cache_fiber, self.on);
}

// Returns whether there is other work for this worker. Without this check, a spawner that never
// stops spawning would keep the worker for ever.
bool others_wait(worker& w) noexcept {
  auto& s = w.home->internals();
  s.poll_outside(w, scheduler::implementation::poll_kind::between_tasks);
  return has_resumed(w) || !s.outside.empty();
}

}  // namespace

fiber& spawner_of(const slot& continuation) noexcept {
  fiber* f = nullptr;
  std::memcpy(&f, continuation.closure, sizeof f);
  return *f;
}

void attend(fiber& self, bool drainable) {
  worker& w = *self.on;
  const bool observed = w.tasks.observed() || w.observer.get() != nullptr;
  if (observed && observe_spawn(self)) return;
  w.tasks.answer();
  slot* const head = w.tasks.head();
  const std::ptrdiff_t least = drain_least(w.home->num_workers());
  const bool may_drain =
      drainable && self.task.rare.atomic_depth == 0 && head - w.tasks.lowest_private() >= least;
  slot* const floor = may_drain ? lowest_drainable(self) : head;
  const bool many = head - floor >= least;
  if (w.tasks.attend(many ? floor + 2 * least : head + least)) {
    w.home->internals().notify();
    // This answered the request of an observation that began or ended after the look above.
    if (w.tasks.observed() != (w.observer.get() != nullptr)) w.tasks.raise_attention();
  }
  // A drain needs a slot for the continuation. If the deque is full (after a very deep recursion),
  // thieves and the scheduling loop must empty it first. No other task may run directly, since its
  // next push would be beyond the array.
  if (many && !w.tasks.full()) drain(self, floor);
  while (self.on->tasks.full()) yield_to_loop();
  auto& s = self.on->home->internals();
  if (s.preferred_external_tasks.load(base::relaxed) != 0 && self.task.rare.atomic_depth == 0)
    yield_to_loop();
  if (s.schedule != nullptr) [[unlikely]]
    s.pass_turn(*self.on);
}

void drain(fiber& self, slot* floor) noexcept {
  worker& w = *self.on;
  flush_arrivals(w);
  ++w.count.drains;
  fiber& other = take_cached_fiber(w);
  other.spawner = &self;
  other.floor = floor;
  const std::uint64_t generation = self.generation;
  if (task_observer* const observer = w.observer.get()) {
    observer->suspends(self, "async, until earlier tasks have run");
  }
  switch_to(self, other, [](fiber*, void*) {}, nullptr);
  if (task_observer* const observer = self.on->observer.get()) observer->resumes(self, 0);
  if (self.generation != generation) self.base = self.on->tasks.head();
}

void run_drain(fiber& self) noexcept {
  worker& w = *self.on;
  slot* const floor = self.floor;
  task_counter& finish = *self.spawner->task.finish;
  if (!w.tasks.exchange_below(floor, continuation_of(*self.spawner))) {
    return_to_spawner(self);
    return;
  }
  self.task = {.finish = &finish};
  self.outermost = nullptr;
  const bool gives_way = w.count.drains % drains_per_look == 0 && others_wait(w);
  const std::uint64_t generation = self.generation;
  for (;;) {
    slot* const s = w.tasks.head() - 1;
    if (s == floor && gives_way) {
      w.tasks.publish();  // counts the continuation: I2
      break;
    }
    // Either a thief took it, and all slots below it, or the pop was refused. The continuation is
    // counted in both cases: I2.
    if (!w.tasks.pop(s)) break;
    if (s == floor) {
      return_to_spawner(self);
      return;
    }
    run_child(w, *s, self);
    if (self.generation != generation) {  // the task was suspended, so all slots were counted
      run_children(self, frame_mark(self.base, self.generation));
      break;
    }
  }
  self.spawner = nullptr;
  complete(self, finish);
}

}  // namespace apgas::inline v0::scheduler

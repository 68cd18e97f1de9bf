// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "implementation.hpp"

// Keeping the deque short. A task that spawns a million others would fill memory and leave the
// caches; when it has spawned some hundreds, it stops in its spawn and another fiber of the same
// worker runs them, newest first, and returns to it. docs/protocols/drain.md.
//
//          floor                           head
//   ... |  continuation of the spawner  |  its tasks ...  |
//
// The continuation lies below the tasks, as a slot, so a thief that has nothing older takes it and
// the spawner goes on at the thief: one long task run by the drain does not hold it up.
//
// Invariants
//   I1  All drained slots have the spawner's innermost finish F as counter: no join slot is passed.
//   I2  The continuation's counter is F: whoever counts it on leaving (a thief, or publish when the
//       drain fiber suspends) thereby gives the drain fiber a unit of F, which it holds for the
//       task it runs and those it has not run, and gives up at its end. The continuation itself is
//       no task and gives up none.
//   I3  A spawner entered through its continuation slot is detached (its generation grows); one
//       entered by the drain fiber finds its frames and slots as they were.
namespace apgas::inline v0::scheduler {
namespace {

constexpr std::ptrdiff_t drain_least = 128;  // fewer are not worth two switches
constexpr std::uint64_t drains_per_look = 4;
constexpr std::ptrdiff_t room = 256;  // 16 KiB of slots: half of a first-level cache

slot continuation_of(fiber& spawner) {
  slot s{};
  s.tagged_counter = slot::tag(spawner.task.finish, slot_kind::continuation);
  fiber* f = &spawner;
  std::memcpy(s.closure, &f, sizeof f);
  return s;
}

// The lowest slot such that it and all above are tasks of the finish of `self` and still its own.
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

// Whether the loop has something for this worker but the spawner, who might spawn for ever.
bool others_wait(worker& w) noexcept {
  auto& s = w.home->internals();
  s.poll_outside(w);
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
  slot* const head = w.tasks.head();
  slot* floor = drainable && self.task.is.atomic_depth == 0 ? lowest_drainable(self) : head;
  const bool many = head - floor >= drain_least;
  if (w.tasks.attend(many ? floor + room : head + drain_least)) w.home->internals().notify();
  // The continuation needs a slot, too. A very deep recursion: others and the loop empty the deque.
  if (many && !w.tasks.full()) drain(self, floor);
  while (self.on->tasks.full()) yield();
  auto& s = self.on->home->internals();
  if (s.turns_wanted.load(base::relaxed) != 0 && self.task.is.atomic_depth == 0) yield_to_loop();
}

void drain(fiber& self, slot* floor) noexcept {
  worker& w = *self.on;
  flush_arrivals(w);
  ++w.count.drains;
  fiber& other = take_cached_fiber(w);
  other.spawner = &self;
  other.floor = floor;
  const std::uint64_t generation = self.generation;
  switch_to(self, other, [](fiber*, void*) {}, nullptr);
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
      w.tasks.publish();  // the continuation too: I2
      break;
    }
    if (!w.tasks.pop(s)) break;  // and so is all below, the continuation too; or refused: I2
    if (s == floor) {
      return_to_spawner(self);
      return;
    }
    self.task.site = s->site;
    s->run(*s, self);
    if (self.task.is.special != 0) end_special(self);
    if (self.generation != generation) {  // suspended meanwhile: everything was counted
      run_children(self, frame_mark(self.base, self.generation));
      break;
    }
  }
  self.spawner = nullptr;
  complete(self, finish);
}

}  // namespace apgas::inline v0::scheduler

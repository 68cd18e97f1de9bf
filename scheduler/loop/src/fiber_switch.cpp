// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/cycles.hpp>

#include "context.hpp"
#include "implementation.hpp"
#include "stack_pool.hpp"

// Entering and leaving fibers, and the cache of fibers of a worker.
namespace apgas::inline v0::scheduler {
namespace {

void begin(fiber* self) {
  context_entered(*self);
  arrived_on(*self);
  loop(self);
  APGAS_UNREACHABLE("a loop does not return: its worker's thread leaves it");
}

void begin_by_seed(fiber* self) {
  context_entered(*self);
  arrived_on(*self);
  seeded_loop(self);
  APGAS_UNREACHABLE("a loop does not return: its worker's thread leaves it");
}

}  // namespace

void arrived_on(fiber& self) noexcept {
  worker& w = *self.on;
  if (w.left != nullptr) w.after(w.left, w.after_argument);
}

namespace {

void exchange_rarities(worker& w, fiber& self, fiber& to) noexcept {
  if (self.canary != nullptr) check_canary(self);
  self.has_exceptions = (w.exceptions[0] | w.exceptions[1]) != 0 ? 1 : 0;
  self.exceptions[0] = std::exchange(w.exceptions[0], 0);
  self.exceptions[1] = std::exchange(w.exceptions[1], 0);
  if (to.has_exceptions == 0) return;
  w.exceptions[0] = to.exceptions[0];
  w.exceptions[1] = to.exceptions[1];
  to.has_exceptions = 0;
}

void enter(worker& w, fiber& self, fiber& to) noexcept {
  w.running.store(&to, base::relaxed);
  to.on = &w;
  if ((w.exceptions[0] | w.exceptions[1] | self.must_save | to.has_exceptions) != 0) [[unlikely]]
    exchange_rarities(w, self, to);
  switch_context(self, to);
  arrived_on(self);
}

// Returns the next resumed fiber that can be entered directly; null if there is none.
fiber* next_single_resumed(worker& w) noexcept {
  if (fiber* f = next_of_batch(w)) return f;
  return w.ready.pop();
}

}  // namespace

void switch_to(fiber& self, fiber& to, void (*after)(fiber*, void*), void* argument) noexcept {
  worker& w = *self.on;
  w.left = &self;
  w.after = after;
  w.after_argument = argument;
  enter(w, self, to);
}

void switch_slow(fiber& self, fiber& to) noexcept {
  worker& w = *self.on;
  self.generation.add_one();
  w.left = nullptr;
  enter(w, self, to);
  self.base = self.on->tasks.head();
}

fiber& cached_fiber_to_switch_to(worker& w) noexcept {
  ++w.count.suspensions;
  w.tasks.publish();
  return take_cached_fiber(w);
}

void arrive_slow() noexcept {
  fiber& self = *current_fiber();
  arrived_on(self);
  self.base = self.on->tasks.head();
}

fiber& take_cached_fiber(worker& w) noexcept {
  if (fiber* f = w.cached_fibers) {
    w.cached_fibers = f->next;
    --w.num_cached_fibers;
    if (const fiber* next = w.cached_fibers) {  // prefetches for the next call
      __builtin_prefetch(next->next);
      const auto* const stack = static_cast<const char*>(next->stack_pointer);
      for (std::ptrdiff_t at = 0; at < 256; at += 64) __builtin_prefetch(stack - at, 1);
    }
    return *f;
  }
  fiber* f = acquire_stack();
  ++w.count.fibers;
  auto& s = w.home->internals();
  f->has_exceptions = 0;
  f->must_save = f->canary != nullptr ? 1 : 0;
  f->spawner = nullptr;
  make_context(*f, s.schedule != nullptr ? begin_by_seed : begin);
  return *f;
}

namespace {

void give_back(fiber& f) noexcept {
  drop_context(f);
  release_stack(&f);
}

}  // namespace

void cache_fiber(fiber* f, void* on_worker) noexcept {
  auto& w = *static_cast<worker*>(on_worker);
  if (w.num_cached_fibers < kept_stacks_max.load(base::relaxed)) {
    f->next = w.cached_fibers;
    w.cached_fibers = f;
    ++w.num_cached_fibers;
  } else {
    give_back(*f);
  }
}

void drop_cached_fibers(worker& w) noexcept {
  while (fiber* f = w.cached_fibers) {
    w.cached_fibers = f->next;
    give_back(*f);
  }
  w.num_cached_fibers = 0;
}

bool run_child_slowly(fiber& self, slot* s) {
  worker& w = *self.on;
  if (w.tasks.pop_slow(s)) {
    run_child(w, *s, self);
    return true;
  }
  return w.tasks.head() == s;
}

void clear_attributes(fiber& self) noexcept {
  if (task_extension* locals = self.task.locals) locals->task_ended(self);
  if (task_extension* extension = self.task.registrations) extension->task_ended(self);
  if ((self.task.rare.has_attributes & is_observed_branch) != 0) observed_branch_ends(self);
  self.task.name = nullptr;
  self.task.registrations = nullptr;
  self.task.rare.has_attributes = 0;
}

namespace {

// While the watchdog looks at the tasks that have waited for long, a resumed task stays where it
// waited.
[[gnu::noinline]] void stay_while_held(const worker& w) noexcept {
  while (w.holds_resumed.load(base::acquire)) {  // P4 of suspended_tasks.hpp
    std::this_thread::yield();
  }
}

struct way_to_leave {
  bool through_loop = false;  // the loop chooses the next work; otherwise it may be a resumed fiber
  bool keeps_arrivals = false;
};

void leave_for(fiber& self, const wait_record& waits_for, way_to_leave how,
               void (*after)(fiber*, void*), void* argument) noexcept {
  worker& w = *self.on;
  self.generation.add_one();
  self.waits_for.store(&waits_for, base::release);  // P1 of suspended_tasks.hpp
  if (task_observer* const observer = w.observer.get()) [[unlikely]]
    observer->suspends(self, waits_for);
  if (!how.keeps_arrivals) flush_arrivals(w);
  ++w.count.suspensions;
  w.waits.add(waits_for.construct, w.home->internals().constructs);
  w.tasks.publish();
  // Entering a resumed fiber directly saves a switch. Every eighth time the scheduling loop
  // chooses, so that tasks which keep resuming each other starve neither unstarted tasks nor the
  // network.
  how.through_loop |= (++w.direct_switches & 7U) == 0;
  fiber* next = how.through_loop ? nullptr : next_single_resumed(w);
  switch_to(self, next != nullptr ? *next : take_cached_fiber(w), after, argument);
  self.waits_for.store(nullptr, base::relaxed);
  base::light_fence();  // P2 of suspended_tasks.hpp, P4 of suspended_tasks.hpp
  if (self.on->holds_resumed.load(base::acquire)) [[unlikely]]  // P4 of suspended_tasks.hpp
    stay_while_held(*self.on);
  if (task_observer* const observer = self.on->observer.get()) [[unlikely]]
    observer->resumes(self, std::exchange(self.cause, 0));
  self.base = self.on->tasks.head();
}

}  // namespace

void leave(fiber& self, const wait_record& waits_for, void (*after)(fiber*, void*),
           void* argument) noexcept {
  leave_for(self, waits_for, {}, after, argument);
}

void leave_with_arrivals(fiber& self, const wait_record& waits_for, void (*after)(fiber*, void*),
                         void* argument) noexcept {
  leave_for(self, waits_for, {.keeps_arrivals = true}, after, argument);
}

void yield_to_loop() noexcept {
  leave_for(
      *current_fiber(), "yield", {.through_loop = true}, [](fiber* f, void*) { resume(f); },
      nullptr);
}

void complete(fiber& self, task_counter& counter) noexcept {
  if (!counter.release()) return;
  worker& w = *self.on;
  flush_arrivals(w);
  if (fiber* waiter = counter.waiter()) {
    if ((++w.direct_switches & 31U) == 0) {
      resume(waiter);
    } else {
      switch_to(self, *waiter, cache_fiber, &w);
    }
  } else {
    counter.observer()->on_zero();
  }
}

void release_count(task_counter& counter) noexcept {
  if (!counter.release()) return;
  if (fiber* waiter = counter.waiter()) {
    resume(waiter);
  } else {
    counter.observer()->on_zero();
  }
}

bool others_end_soon(const task_counter& counter) noexcept {
  const worker& w = *current_fiber()->on;
  const auto& s = w.home->internals();
  if (s.oversubscribed.load(base::relaxed) || w.home->num_workers() == 1) return counter.alone();
  const std::uint64_t begun = base::cycles();
  while (!counter.alone()) {
    if (has_other_work(w) || s.arrived.load(base::relaxed)) return false;
    if (base::cycles() - begun >= end_is_near_cycles) return false;
    base::cpu_relax();
  }
  return true;
}

void wait_for_others(task_counter& counter, const wait_record& waits_for) noexcept {
  if (counter.alone()) return;
  leave(
      *current_fiber(), {waits_for.construct, &counter, waits_for.where, waits_for.explain},
      [](fiber* self, void* argument) {
        auto& awaited = *static_cast<task_counter*>(argument);
        awaited.set_waiter(self);
        if (awaited.release()) resume(self);
      },
      &counter);
}

void yield() noexcept {
  current_fiber()->on->yielded = true;
  suspend("yield", [](fiber* f) { resume(f); });
}

}  // namespace apgas::inline v0::scheduler

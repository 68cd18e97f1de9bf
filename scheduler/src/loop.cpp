// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <sched.h>

#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/membarrier.hpp>

#include "implementation.hpp"

// What a worker does between tasks: chooses the next, or searches, or sleeps.
namespace apgas::inline v0::scheduler {
namespace {

using clock = std::chrono::steady_clock;

struct work {
  fiber* resumed = nullptr;
  injected* external = nullptr;
  bool in_slot = false;
  slot task;
  explicit operator bool() const { return resumed != nullptr || external != nullptr || in_slot; }
};

std::uint64_t cycles() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(clock::now().time_since_epoch().count()) * 3;
#endif
}

// A fiber that may go on: of the batch, or whatever is resumed next.
fiber* next_resumed(worker& w) noexcept {
  if (fiber* f = next_of_batch(w)) return f;
  const ready_queue::entry e = w.ready.pop_any();
  if (e.many == nullptr) return e.one;
  begin_batch(w, e.many);
  w.home->internals().notify();  // a worker that looked into the queue and the batch saw neither
  return next_of_batch(w);
}

// The worker's own work. Every fourth choice goes to those that wait longest, every sixteenth looks
// outside first: that makes yield() fair.
bool choose(worker& w, work& found) {
  if (w.tally.noted()) {
    found.resumed = next_of_batch(w);
    if (!found && starts_next(w, w.tally.of)) {
      found.in_slot = w.tasks.take_newest(found.task);
      if (found && !found.task.is_member_of(w.tally.of)) settle(w);  // a thief had that one
    }
    if (found) return true;
    settle(w);
  }
  auto& s = w.home->internals();
  if (const int turns = s.turns_wanted.load(base::relaxed); turns != 0) [[unlikely]] {
    found.external = s.outside.pop();
    s.turns_wanted.store(found ? turns - 1 : 0, base::relaxed);
    if (found) return true;
  }
  const std::uint32_t turn = ++w.turns;
  if ((turn & 15U) == 0 || s.arrived.load(base::relaxed)) s.poll_outside(w);
  if ((turn & 3U) != 0) {
    found.resumed = next_resumed(w);
    if (!found) found.in_slot = w.tasks.take_newest(found.task);
    if (!found) found.external = s.outside.pop();
  } else {
    found.external = s.outside.pop();
    // A spawner lies below the tasks it waits for, so the turn is theirs, but not for ever.
    const auto wanted = [turn](const slot& oldest) {
      return oldest.kind() != slot_kind::continuation || (turn & 255U) == 0;
    };
    if (!found) found.in_slot = w.tasks.take_oldest(found.task, wanted);
    if (!found) found.in_slot = w.tasks.take_newest(found.task);
    if (!found) found.resumed = next_resumed(w);
  }
  return static_cast<bool>(found);
}

constexpr std::size_t batch = 8;

// A steal costs thief and victim the time of the heavy fence (2 us on one machine, 10 on another)
// and some cache lines. When the tasks were done sooner than that, the thief waits before the next,
// the longer the worse the bargain was: two workers would pass cache lines of tiny tasks to and
// fro, slower than one alone. Tasks that are worth it end the waiting.
constexpr std::uint64_t worthwhile_cycles = 8'000;
constexpr std::uint64_t pause_growth = 4;
constexpr std::uint64_t loss_weight = 8;        // how many times the loss is waited
constexpr std::uint64_t steals_per_pause = 32;  // of all workers: so many steals' time at most

// How long to wait after a steal of `cost` whose tasks took `ran`.
std::uint64_t pause_after(std::uint64_t cost, std::uint64_t ran, std::uint64_t before,
                          int workers) {
  cost = std::max(cost, worthwhile_cycles);
  if (ran >= cost) return before / pause_growth < cost ? 0 : before / pause_growth;
  const std::uint64_t longest =
      cost * std::min(steals_per_pause * static_cast<unsigned>(workers),
                      loss_weight * cost / std::max<std::uint64_t>(ran, 1));
  return std::min(longest, before == 0 ? cost : before * pause_growth);
}

bool may_steal(worker& w) {
  const std::uint64_t now = cycles();
  if (w.stolen_at != 0) {
    w.steal_pause =
        pause_after(w.steal_cost, now - w.stolen_at, w.steal_pause, w.home->num_workers());
    w.steal_again_at = now + w.steal_pause;
    w.stolen_at = 0;
  }
  return now >= w.steal_again_at;
}

void note_steal(worker& w, std::size_t tasks, std::uint64_t begun) {
  ++w.count.steals;
  w.count.stolen += tasks;
  w.stolen_at = cycles();
  w.steal_cost = w.stolen_at - begun;
  if (w.trace != nullptr) w.trace->add("steal", clock::now(), tasks);
}

bool steal_from(worker& w, worker& victim, work& found, bool resumed_too) {
  if (victim.tasks.empty() && !(resumed_too && has_resumed(victim))) return false;
  const std::uint64_t begun = cycles();
  slot taken[batch];
  const std::size_t n = victim.tasks.steal(taken, batch);
  if (n != 0) {
    found.in_slot = true;
    found.task.assign(taken[0]);
    if (n > 1) w.tasks.push_counted(taken + 1, n - 1);
    note_steal(w, n, begun);
    return true;
  }
  if (!resumed_too) return false;
  fiber_slot some[batch];
  const std::size_t m = victim.batch.steal(some, batch);
  if (m != 0) {
    found.resumed = some[0].task;
    for (std::size_t i = 1; i < m; ++i) w.ready.push(some[i].task);
    note_steal(w, m, begun);
    return true;
  }
  const ready_queue::entry e = victim.ready.pop_any();
  found.resumed = e.one;
  if (e.many == nullptr) return e.one != nullptr;
  note_steal(w, e.many->size, begun);
  begin_batch(w, e.many);
  found.resumed = next_of_batch(w);  // none when another thief was faster
  return found.resumed != nullptr;
}

bool steal(worker& w, work& found, bool resumed_too) {
  if (!may_steal(w)) return false;
  auto& s = w.home->internals();
  const auto& order = s.victims[static_cast<std::size_t>(w.id)];
  const auto n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = (static_cast<std::size_t>(w.last_victim) + i) % n;
    if (steal_from(w, *s.workers[static_cast<std::size_t>(order[at])], found, resumed_too)) {
      w.last_victim = static_cast<int>(at);
      return true;
    }
  }
  w.last_victim = 0;  // the nearest first again
  return false;
}

// A task that was resumed is most likely about to go on where it was, with its stack in the caches:
// only when there have been some to take for so long is one taken away.
constexpr std::uint64_t resumed_patience_cycles = 6'000;

class patience {
 public:
  explicit patience(const scheduler::implementation& s) noexcept : workers_(s.workers) {}
  bool exhausted() noexcept {
    if (std::ranges::none_of(workers_, [](const auto& w) { return has_resumed(*w); })) {
      since_ = 0;
      return false;
    }
    const std::uint64_t now = cycles();
    if (since_ == 0) since_ = now;
    return now - since_ > resumed_patience_cycles;
  }

 private:
  const std::vector<std::unique_ptr<worker>>& workers_;
  std::uint64_t since_ = 0;
};

// Looks everywhere until something is found; false when the scheduler stops.
bool search(worker& w, work& found) {
  auto& s = w.home->internals();
  s.idle.begin_search();
  const auto begun = clock::now();
  auto give_up = begun + s.settings.spin;
  unsigned rounds = 0;
  patience leave_resumed(s);
  for (;;) {
    if (choose(w, found) || steal(w, found, leave_resumed.exhausted())) break;
    if (s.stopping.load(base::acquire)) {  // P1 of scheduler.cpp
      static_cast<void>(s.idle.end_search());
      return false;
    }
    if (s.poll_outside(w)) {
      give_up = clock::now() + s.settings.spin;
      continue;
    }
    if (s.settings.oversubscribed) {
      sched_yield();
    } else {
      base::cpu_relax();
    }
    if ((++rounds & 31U) == 0 && clock::now() > give_up) {
      // While a steal would not pay, neither would the fence of going to sleep.
      if (cycles() >= w.steal_again_at) s.sleep(w);
      give_up = clock::now() + s.settings.spin;
    }
  }
  if (w.trace != nullptr) w.trace->add("search", begun);
  if (idle_seat* next = s.idle.end_search()) next->sleep.unpark();
  return true;
}

// A task of the loop begins on this fiber, and has ended with what it left behind.
void trace_begin(fiber& self) noexcept {
  if (trace_log* const trace = self.on->trace) [[unlikely]]
    trace->task_begins(self.task);
}
void trace_end(fiber& self) noexcept {
  if (trace_log* const trace = self.on->trace) [[unlikely]]
    trace->task_left(nullptr);
}

void run_slot(fiber& self, slot& s) {
  if (s.kind() == slot_kind::continuation) {
    fiber& spawner = spawner_of(s);
    ++spawner.generation;
    switch_to(self, spawner, keep_spare, self.on);
    return;
  }
  const bool is_task = s.is_task();  // the slot may be used again
  task_counter& counter = *s.counter();
  const frame_mark mark(self);
  self.task = {.finish = &counter, .site = s.site};
  self.outermost = &counter;
  self.base = mark.base;
  trace_begin(self);
  s.run(s, self);
  if (self.task.is.special != 0) end_special(self);
  if (is_task) {
    run_children(self, mark);
  } else {
    self.on->tasks.publish();  // what a branch spawned may wait for what follows the join
  }
  trace_end(self);
  complete(self, counter);
}

void run_injected(fiber& self, injected& i) {
  const frame_mark mark(self);
  self.task = {};
  self.outermost = nullptr;
  trace_begin(self);
  task_counter* counter = i.run(&i, self);
  if (self.task.is.special != 0) end_special(self);
  run_children(self, mark);
  trace_end(self);
  self.allowance = 0;  // it was that task's
  if (counter != nullptr) complete(self, *counter);
}

}  // namespace

void loop(fiber* self) noexcept {
  for (;;) {
    if (self->spawner != nullptr) {
      run_drain(*self);
      continue;
    }
    worker& w = *self->on;
    if (w.tally.noted()) {  // as choose(), in short
      if (fiber* const next = next_of_batch_fast(w)) {
        switch_to(*self, *next, keep_spare, &w);
        continue;
      }
    }
    work found;
    if (!choose(w, found) && !search(w, found)) {
      switch_to(*self, *w.thread, keep_spare, &w);
    } else if (found.resumed != nullptr) {
      switch_to(*self, *found.resumed, keep_spare, &w);
    } else if (found.external != nullptr) {
      run_injected(*self, *found.external);
    } else {
      run_slot(*self, found.task);
    }
  }
}

}  // namespace apgas::inline v0::scheduler

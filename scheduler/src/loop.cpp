// SPDX-License-Identifier: Apache-2.0
#include <chrono>

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

// The worker's own work. Every fourth choice goes to those that wait longest, every sixteenth looks
// outside first: that makes yield() fair.
bool choose(worker& w, work& found) {
  auto& s = w.home->internals();
  const std::uint32_t turn = ++w.turns;
  if ((turn & 15U) == 0 || s.arrived.load(base::relaxed)) s.poll_outside(w);
  if ((turn & 3U) != 0) {
    found.resumed = w.ready.pop();
    if (!found) found.in_slot = w.tasks.take_newest(found.task);
    if (!found) found.external = s.outside.pop();
  } else {
    found.external = s.outside.pop();
    if (!found) found.in_slot = w.tasks.take_oldest(found.task);
    if (!found) found.resumed = w.ready.pop();
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

bool steal_from(worker& w, worker& victim, work& found) {
  if (victim.tasks.empty() && victim.ready.empty()) return false;
  const std::uint64_t begun = cycles();
  slot taken[batch];
  const std::size_t n = victim.tasks.steal(taken, batch);
  if (n != 0) {
    found.in_slot = true;
    found.task.assign(taken[0]);
    if (n > 1) w.tasks.push_counted(taken + 1, n - 1);
    ++w.count.steals;
    w.count.stolen += n;
    w.stolen_at = cycles();
    w.steal_cost = w.stolen_at - begun;
    return true;
  }
  found.resumed = victim.ready.pop();
  return found.resumed != nullptr;
}

bool steal(worker& w, work& found) {
  if (!may_steal(w)) return false;
  auto& s = w.home->internals();
  const auto& order = s.victims[static_cast<std::size_t>(w.id)];
  const auto n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = (static_cast<std::size_t>(w.last_victim) + i) % n;
    if (steal_from(w, *s.workers[static_cast<std::size_t>(order[at])], found)) {
      w.last_victim = static_cast<int>(at);
      return true;
    }
  }
  w.last_victim = 0;  // the nearest first again
  return false;
}

// Looks everywhere until something is found; false when the scheduler stops.
bool search(worker& w, work& found) {
  auto& s = w.home->internals();
  s.idle.begin_search();
  auto give_up = clock::now() + s.settings.spin;
  unsigned rounds = 0;
  for (;;) {
    if (choose(w, found) || steal(w, found)) break;
    if (s.stopping.load(base::acquire)) {  // P1 of scheduler.cpp
      static_cast<void>(s.idle.end_search());
      return false;
    }
    if (s.poll_outside(w)) continue;
    base::cpu_relax();
    if ((++rounds & 31U) == 0 && clock::now() > give_up) {
      // While a steal would not pay, neither would the fence of going to sleep.
      if (cycles() >= w.steal_again_at) s.sleep(w);
      give_up = clock::now() + s.settings.spin;
    }
  }
  if (idle_seat* next = s.idle.end_search()) next->sleep.unpark();
  return true;
}

void run_slot(fiber& self, slot& s) {
  const slot_kind kind = s.kind();
  task_counter& counter = *s.counter();
  if (kind == slot_kind::continuation) {
    fiber& spawner = spawner_of(s);
    ++spawner.generation;
    switch_to(self, spawner, keep_spare, self.on);
    return;
  }
  const frame_mark mark(self);
  self.task = {.finish = &counter, .site = s.site};
  s.run(s, self);
  if (kind == slot_kind::task) {
    run_children(self, mark);
  } else {
    self.on->tasks.publish();  // what a branch spawned may wait for what follows the join
  }
  complete(self, counter);
}

void run_injected(fiber& self, injected& i) {
  const frame_mark mark(self);
  self.task = {};
  task_counter* counter = i.run(&i, self);
  run_children(self, mark);
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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "implementation.hpp"
#include "run_work.hpp"

// The scheduling loop of a seeded schedule (turns.hpp). It has the same steps as the usual one of
// loop.cpp, but each choice that is free there, or that depends on time, is made by the seed: the
// queue to look at, the element of it, the victim of a steal, and when a worker sleeps. Before each
// choice the worker passes its turn. When the schedule ends, the worker enters the usual loop.
namespace apgas::inline v0::scheduler {
namespace {

using poll_kind = scheduler::implementation::poll_kind;

turns& schedule_of(const worker& w) noexcept { return *w.home->internals().schedule; }

std::uint32_t draw_index(turns& t, std::size_t size) noexcept {
  return t.below(static_cast<std::uint32_t>(std::max<std::size_t>(size, 1)));
}

// Takes a block of fibers as the batch of the worker, in an order that the seed chooses.
fiber* begin_shuffled(worker& w, batch_block* block) noexcept {
  turns& t = schedule_of(w);
  for (std::size_t i = block->size; i > 1; --i) {
    std::swap(block->at[i - 1], block->at[draw_index(t, i)]);
  }
  begin_batch(w, block);
  w.home->internals().notify();
  return next_of_batch(w);
}

// Takes any resumed fiber from the queues of `from`, for the worker `w`; null if there is none.
fiber* take_resumed(worker& w, worker& from) noexcept {
  turns& t = schedule_of(w);
  const std::size_t singles = from.ready.singles();
  const bool has_block = from.ready.blocks() != 0 && w.batch.empty() && !w.arrivals.noted();
  const std::uint32_t n = draw_index(t, singles + (has_block ? 1 : 0));
  if (n < singles) return from.ready.take_single(n);
  batch_block* const block = has_block ? from.ready.take_first_block() : nullptr;
  return block != nullptr ? begin_shuffled(w, block) : nullptr;
}

fiber* take_own_resumed(worker& w) noexcept {
  if (!w.batch.empty() && (w.ready.empty() || schedule_of(w).below(2) == 0)) {
    if (fiber* const f = next_of_batch(w)) return f;
  }
  return take_resumed(w, w);
}

// The queues in which a worker looks for work of its own.
enum class queue : std::uint8_t { resumed, newest, oldest, external, network };
constexpr std::uint32_t queues = 5;

void take_from(worker& w, queue which, work& found) {
  auto& s = w.home->internals();
  turns& t = *s.schedule;
  switch (which) {
    case queue::resumed:
      found.resumed = take_own_resumed(w);
      break;
    case queue::newest:
      found.in_slot = w.tasks.take_newest(found.task);
      break;
    case queue::oldest: {
      // A continuation waits for the tasks above it, which usually go first.
      const bool any = t.below(4) == 0;
      const auto wanted = [any](const slot& oldest) {
        return any || oldest.kind() != slot_kind::continuation;
      };
      found.in_slot = w.tasks.take_oldest(found.task, wanted);
      break;
    }
    case queue::external:
      found.external = s.outside.take(draw_index(t, s.outside.size()));
      break;
    case queue::network:
      s.poll_outside(w, poll_kind::loop);
      found.external = std::exchange(w.polled, nullptr);
      break;
  }
}

// Continues the batch of the worker, or flushes its arrivals.
bool continue_batch(worker& w, work& found) {
  if (schedule_of(w).below(4) != 0) {
    found.resumed = next_of_batch(w);
    if (!found && starts_next(w, w.arrivals.of)) {
      found.in_slot = w.tasks.take_newest(found.task);
      if (found && !found.task.is_member_of(w.arrivals.of)) flush_arrivals(w);
    }
    if (found) return true;
  }
  flush_arrivals(w);
  return false;
}

bool choose_by_seed(worker& w, work& found) {
  if (w.tasks.full() && w.tasks.make_room(true)) {  // any other task could push beyond the array
    flush_arrivals(w);
    found.in_slot = w.tasks.take_newest(found.task);
    if (found) return true;
  }
  if (w.arrivals.noted() && continue_batch(w, found)) return true;
  ++w.choices;
  found.external = std::exchange(w.polled, nullptr);
  const std::uint32_t first = schedule_of(w).below(queues);
  for (std::uint32_t i = 0; i < queues && !found; ++i) {
    take_from(w, static_cast<queue>((first + i) % queues), found);
  }
  return static_cast<bool>(found);
}

bool steal_tasks(worker& w, worker& victim, work& found) {
  if (victim.tasks.empty()) return false;
  slot taken[steal_most];
  // The deques are fenced, so that a thief need not ask.
  const auto got = victim.tasks.steal(taken, 1 + schedule_of(w).below(steal_most), {1, 0});
  if (got.tasks == 0) return false;
  observe_stolen(w, {taken, got.tasks});
  found.in_slot = true;
  found.task.assign(taken[0]);
  if (got.tasks > 1) w.tasks.push_counted(taken + 1, got.tasks - 1);
  ++w.count.steals;
  w.count.stolen += got.tasks;
  return true;
}

bool steal_resumed(worker& w, worker& victim, work& found) {
  fiber_slot one[1];
  if (!victim.batch.empty() && victim.batch.steal(one, 1, {1, 0}).tasks != 0) {
    found.resumed = one[0].task;
  } else {
    found.resumed = take_resumed(w, victim);
  }
  if (!found) return false;
  ++w.count.steals;
  ++w.count.stolen;
  return true;
}

bool steal_by_seed(worker& w, work& found) {
  auto& s = w.home->internals();
  const std::vector<int>& others = w.victims.all();
  const std::uint32_t first = draw_index(*s.schedule, others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    worker& victim = *s.workers[static_cast<std::size_t>(others[(first + i) % others.size()])];
    if (!victim.tasks.empty() || has_resumed(victim)) ++w.count.steal_attempts;
    if (steal_tasks(w, victim, found)) return true;
    if (has_resumed(victim) && s.schedule->below(2) == 0 && steal_resumed(w, victim, found))
      return true;
  }
  return false;
}

}  // namespace

// As search() of loop.cpp. Returns false also if the schedule has ended.
bool search_by_seed(worker& w, work& found) {
  auto& s = w.home->internals();
  s.idle.begin_search();
  w.searches.store(true, base::relaxed);
  while (!s.schedule->ended()) {
    if (choose_by_seed(w, found) || steal_by_seed(w, found)) break;
    if (s.poll_outside(w, poll_kind::search)) continue;
    if (s.schedule->below(3) == 0) {
      s.sleep_by_seed(w);
    } else {
      s.pass_turn(w);
    }
  }
  w.searches.store(false, base::relaxed);
  if (idle_entry* next = s.idle.end_search()[0]) next->sleep.unpark();
  return static_cast<bool>(found);
}

// As sleep() of idle.cpp, in virtual time.
void scheduler::implementation::sleep_by_seed(worker& w) noexcept {
  idle_entry& entry = **entries[static_cast<std::size_t>(w.id)];
  turns::participant& self = *participants[static_cast<std::size_t>(w.id)];
  const bool is_poller = idle.announce_sleep(&entry);
  pass_turn(w);
  // Whatever the watchdog sees while it has the turn, it must not take for a deadlock.
  if (schedule->below(4) == 0) stall_watchdog->look_for_deadlock();
  bool listed = true;
  if (!anything_to_do()) ++w.count.sleeps;
  for (unsigned idle_polls = 0; !schedule->ended() && !anything_to_do(); ++idle_polls) {
    turns::time until = is_poller ? timed.next() : turns::time::max();
    if (is_poller && settings.events != nullptr) {
      const auto most = settings.events->max_sleep(idle_polls);
      if (most != std::chrono::nanoseconds::max()) until = std::min(until, schedule->now() + most);
    }
    if (schedule->sleep(self, entry.sleep, until)) {
      listed = false;
      break;
    }
    if (poll_outside(w, poll_kind::loop)) break;
  }
  // If another thread has taken this worker off the list, its token is there or comes at once.
  if (listed && !idle.cancel_sleep(&entry)) {
    static_cast<void>(entry.sleep.park(std::chrono::nanoseconds::max()));
  }
}

void scheduler::implementation::pass_turn(const worker& w) noexcept {
  schedule->pass(*participants[static_cast<std::size_t>(w.id)]);
}

// A fiber that is left or a task that ends goes through the scheduling loop if this counter of its
// worker is about to reach a multiple of 32 (leave_for() and complete()).
constexpr std::uint32_t next_switch_through_loop = 31;

void seeded_loop(fiber* self) noexcept {
  for (;;) {
    if (self->spawner != nullptr) {
      run_drain(*self);
      continue;
    }
    worker& w = *self->on;
    auto& s = w.home->internals();
    s.pass_turn(w);
    s.stop_if_halted(w);
    if (s.schedule->ended()) return loop(self);
    work found;
    if (!choose_by_seed(w, found) && !search_by_seed(w, found)) continue;
    w.direct_switches = next_switch_through_loop;
    if (found.resumed != nullptr) {
      switch_to(*self, *found.resumed, cache_fiber, &w);
    } else if (found.external != nullptr) {
      run_external_task(*self, *found.external);
    } else {
      run_slot(*self, found.task);
    }
  }
}

}  // namespace apgas::inline v0::scheduler

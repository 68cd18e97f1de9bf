// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include <sched.h>

#include <apgas/base/cpu_relax.hpp>
#include <apgas/base/cycles.hpp>
#include <apgas/base/membarrier.hpp>

#include "implementation.hpp"
#include "run_work.hpp"

// The scheduling loop: what a worker does between tasks. It chooses the next work from the worker's
// own queues; if these are empty, it searches and steals; and if there is nothing to steal, it
// sleeps. While its tasks yield, it steals now and then, although its queues are not empty.
namespace apgas::inline v0::scheduler {
namespace {

using base::cycles;
using clock = std::chrono::steady_clock;
using poll_kind = scheduler::implementation::poll_kind;

// Returns the next resumed fiber: from the batch, or from the ready queue. Begins a batch if a
// block is next there. Returns null if there is none.
fiber* next_resumed(worker& w) noexcept {
  if (w.ready.passes_on()) [[unlikely]]
    pass_on_blocks(w);
  if (fiber* f = next_of_batch(w)) return f;
  batch_is_over(w);
  const ready_queue::entry e = w.ready.pop_any();
  if (e.many == nullptr) return e.one;
  begin_batch(w, e.many);
  w.home->internals().notify();  // a searching worker may have seen both queue and batch empty
  return next_of_batch(w);
}

// Makes room in the full deque of the worker: moves its tasks down in their array, or to a larger
// one. Returns false if there is no memory for that.
[[gnu::cold]] bool make_room(worker& w) {
  if (!w.tasks.make_room()) return true;
  auto& s = w.home->internals();
  const std::size_t capacity = 2 * w.tasks.capacity();
  if (capacity <= s.settings.deque_slots_most) {
    if (slot_array larger = map_slots(capacity); larger != nullptr) {
      w.tasks.move_to(larger.get(), capacity);
      s.slot_arrays[static_cast<std::size_t>(w.id)] = std::move(larger);
      s.notify();  // see move_to()
      return true;
    }
  }
  return !w.tasks.make_room(true);
}

// Chooses the newest task while the deque is full, because any other one could push a task beyond
// the array. Messages are received, but what they bring has to wait.
[[gnu::cold]] void choose_newest(worker& w, work& found) {
  auto& s = w.home->internals();
  flush_arrivals(w);
  s.stop_if_halted(w);
  if ((++w.choices & 15U) == 0 || s.arrived.load(base::relaxed)) {
    s.poll_outside(w, poll_kind::between_tasks);
  }
  found.in_slot = w.tasks.take_newest(found.task);
}

// Whether the worker keeps at least 24 fibers without a task, or has made fewer than 64 so far.
bool has_free_stacks(const worker& w) noexcept {
  return w.num_cached_fibers >= 24 || w.count.fibers < 64U;
}

void note_steal(worker& w, const worker& victim, std::size_t tasks, bool fenced,
                std::uint64_t begun) {
  ++w.count.steals;
  w.count.stolen += tasks;
  w.pace.stole(tasks, begun, cycles(), fenced);
  observe_activity(w, worker_activity::steal, begun,
                   std::uint64_t{tasks} << 32U | static_cast<std::uint32_t>(victim.id));
}

// Steals at most `most` tasks from `victim`. With `resumed_too` also takes resumed tasks. A thief
// that has work itself steals one task; a block that it gets goes to its ready queue.
bool steal_from(worker& w, worker& victim, work& found, bool resumed_too,
                std::size_t most = steal_most) {
  if (victim.tasks.empty() && !(resumed_too && has_resumed(victim))) return false;
  ++w.count.steal_attempts;
  const std::uint64_t begun = cycles();
  const std::uint64_t patience = answer_patience_cycles(w.home->num_workers());
  slot taken[steal_most];
  const auto got = victim.tasks.steal(taken, most, {begun, patience});
  if (got.fenced) ++w.count.fences;
  if (got.tasks != 0) {
    observe_stolen(w, {taken, got.tasks});
    found.in_slot = true;
    found.task.assign(taken[0]);
    if (got.tasks > 1) w.tasks.push_counted(taken + 1, got.tasks - 1);
    note_steal(w, victim, got.tasks, got.fenced, begun);
    return true;
  }
  if (!resumed_too) return false;
  fiber_slot some[steal_most];
  const auto more = victim.batch.steal(some, most, {begun, patience});
  if (more.fenced) ++w.count.fences;
  if (more.tasks != 0) {
    found.resumed = some[0].task;
    for (std::size_t i = 1; i < more.tasks; ++i) w.ready.push(some[i].task);
    note_steal(w, victim, more.tasks, more.fenced, begun);
    return true;
  }
  const ready_queue::entry e = victim.ready.pop_any();
  found.resumed = e.one;
  if (e.many == nullptr) return e.one != nullptr;
  note_steal(w, victim, e.many->size, false, begun);
  if (most == 1) {
    w.ready.push(e.many, e.many, 1);
    w.home->internals().notify();  // a searching worker may have missed it between the two queues
    found.resumed = next_resumed(w);
    return found.resumed != nullptr;
  }
  begin_batch(w, e.many);
  found.resumed = next_of_batch(w);  // null if another thief was faster
  if (found.resumed == nullptr) batch_is_over(w);
  return found.resumed != nullptr;
}

// Measures how long there have been resumed tasks without a break, as far as it looks. A look reads
// a line of every worker, so with many workers looks are rarer than rounds of the search.
class patience {
 public:
  explicit patience(const scheduler::implementation& s) noexcept : workers_(s.workers) {}
  bool exhausted(std::uint64_t now) noexcept {
    if (now >= look_at_) look(now);
    return since_ != 0 && now - since_ > resumed_patience_cycles(workers_.size());
  }

 private:
  void look(std::uint64_t now) noexcept {
    look_at_ = now + look_for_resumed_after(workers_.size());
    const auto may_have_resumed = [](const auto& w) {
      return w->may_have_batch.load(base::relaxed) || !w->ready.empty();
    };
    if (std::ranges::none_of(workers_, may_have_resumed)) {
      since_ = 0;
    } else if (since_ == 0) {
      since_ = now;
    }
  }

  const std::vector<std::unique_ptr<worker>>& workers_;
  std::uint64_t since_ = 0;    // 0: there was none at the last look
  std::uint64_t look_at_ = 0;  // when the next look is
};

// Steals for a worker that has found nothing in its own queues.
bool steal(worker& w, work& found, patience& leave_resumed) {
  auto& s = w.home->internals();
  const std::uint64_t now = cycles();
  if (!w.pace.may_steal(now, w.home->num_workers())) return false;
  const std::size_t visits = w.victims.begin_round(now);
  if (visits == 0) return false;
  const bool resumed_too = leave_resumed.exhausted(now);
  for (std::size_t i = 0; i < visits; ++i) {
    worker& victim = *s.workers[static_cast<std::size_t>(w.victims[i])];
    if (steal_from(w, victim, found, resumed_too)) {
      w.victims.found(i);
      return true;
    }
  }
  w.victims.found_none(cycles());
  return false;
}

// Steals for a worker whose tasks yield, which perhaps wait for what is ready at another worker.
bool steal_beside_work(worker& w, work& found) {
  auto& s = w.home->internals();
  if (!w.pace.may_steal(cycles(), w.home->num_workers())) return false;
  const std::size_t visits = std::min<std::size_t>(s.workers.size() - 1, 8);
  for (std::size_t i = 0; i < visits; ++i) {
    const auto [victim, resumed_too] = w.victims.next_in_turn();
    if (steal_from(w, *s.workers[static_cast<std::size_t>(victim)], found, resumed_too, 1))
      return true;
  }
  return false;
}

// Chooses work from the queues of the worker itself, and seldom from another worker.
bool choose(worker& w, work& found) {
  if (w.tasks.full() && !make_room(w)) [[unlikely]] {
    choose_newest(w, found);
    if (found) return true;  // otherwise thieves have taken all
  }
  if (w.arrivals.noted()) {
    found.resumed = next_of_batch(w);
    if (!found && starts_next(w, w.arrivals.of)) {
      found.in_slot = w.tasks.take_newest(found.task);
      // A thief may have taken the member meanwhile.
      if (found && !found.task.is_member_of(w.arrivals.of)) flush_arrivals(w);
    }
    if (found) return true;
    flush_arrivals(w);
  }
  auto& s = w.home->internals();
  found.external = std::exchange(w.polled, nullptr);
  if (found) return true;
  const int preferred = s.preferred_external_tasks.load(base::relaxed);
  if (preferred != 0) [[unlikely]] {
    s.stop_if_halted(w);
    found.external = s.outside.pop();
    s.preferred_external_tasks.store(found ? preferred - 1 : 0, base::relaxed);
    // The pop that was refused for it hid a task from a worker that looked just then, before sleep.
    if (found && !w.tasks.empty()) s.notify();
    if (found) return true;
  }
  const std::uint64_t choice = ++w.choices;
  if (polls_first(choice) || s.arrived.load(base::relaxed)) {
    s.poll_outside(w, poll_kind::loop);
    found.external = std::exchange(w.polled, nullptr);
    if (found) return true;
  }
  const bool outside = outside_first(choice);
  if (outside) found.external = s.outside.pop();
  if (found) return true;
  if (steals_first(choice) && std::exchange(w.yielded, false) && steal_beside_work(w, found)) {
    return true;
  }
  if (!oldest_first(choice, has_free_stacks(w))) {
    found.resumed = next_resumed(w);
    if (!found) found.in_slot = w.tasks.take_newest(found.task);
  } else {
    const auto wanted = [choice](const slot& oldest) {
      return oldest.kind() != slot_kind::continuation || continuation_too(choice);
    };
    found.in_slot = w.tasks.take_oldest(found.task, wanted);
    if (!found) found.in_slot = w.tasks.take_newest(found.task);
    if (!found) found.resumed = next_resumed(w);
  }
  if (!found && !outside) found.external = s.outside.pop();
  return static_cast<bool>(found);
}

// A round of a search that takes longer, in cycles, about 1 ms: other threads have computed on the
// processor meanwhile. Then the worker had better sleep: each further yield may take as long, and
// the system lets a thread that is woken go first. The poll counts, since Open MPI yields in it.
constexpr std::uint64_t long_round = 3'000'000;

// Searches all queues, and sleeps in between, until it finds work. Returns false if the scheduler
// stops.
bool search(worker& w, work& found) {
  auto& s = w.home->internals();
  // On shared cores a round may take a millisecond, so the worker counts at once.
  bool counts =
      counts_as_searching_at_once(w.home->num_workers()) || s.oversubscribed.load(base::relaxed);
  if (counts) s.idle.begin_search();
  w.searches.store(true, base::relaxed);
  const std::uint64_t begun = observe_begin(w, worker_activity::search);
  // The clock is read only every 32 rounds, because what is searched for is often found sooner.
  clock::time_point give_up = clock::time_point::max();  // not determined yet
  unsigned rounds = 0;
  bool woken = false;
  bool stole = false;
  patience leave_resumed(s);
  for (;;) {
    if (choose(w, found)) break;
    stole = steal(w, found, leave_resumed);
    if (stole) break;
    if (s.stopping.load(base::acquire)) {  // P1 of scheduler.cpp
      if (counts) static_cast<void>(s.idle.end_search());
      return false;
    }
    const bool yields = s.oversubscribed.load(base::relaxed);
    const std::uint64_t round_begun = yields ? cycles() : 0;
    if (s.poll_outside(w, poll_kind::search)) {
      give_up = clock::time_point::max();
      continue;
    }
    bool others_compute = false;
    if (yields) {
      sched_yield();
      others_compute = cycles() - round_begun > long_round;
    } else {
      base::cpu_relax();
    }
    if ((++rounds & 31U) != 0 && !others_compute) continue;
    if (!std::exchange(counts, true)) s.idle.begin_search();
    const auto now = clock::now();
    if (s.cores.is_due(now)) s.look_at_cores(now);
    if (others_compute) give_up = {};
    if (give_up == clock::time_point::max()) {
      give_up = now + idle_time(s.settings.spin, w.home->num_workers(), w.in_lock_step);
    } else if (now > give_up) {
      // During a pause between steals the worker does not sleep either: the heavy fence for that
      // would cost as much as a steal.
      if (w.pace.pause_is_over(cycles())) {
        w.in_lock_step = false;
        woken = s.sleep(w);
      }
      give_up = clock::time_point::max();
    }
  }
  w.searches.store(false, base::relaxed);
  observe_activity(w, worker_activity::search, begun);
  if (!counts) {
    // A worker on its way to sleep may have missed what was in no queue for a moment.
    if (stole) s.notify();
    return true;
  }
  // A worker that was woken and could steal has probably left work for others. If it came too late
  // for that, or was woken for a message, one more worker is enough.
  for (idle_entry* next : s.idle.end_search(woken && stole)) {
    if (next != nullptr) next->sleep.unpark();
  }
  return true;
}

}  // namespace

void loop(fiber* self) noexcept {
  for (;;) {
    if (self->spawner != nullptr) {
      run_drain(*self);
      continue;
    }
    worker& w = *self->on;
    if (w.arrivals.noted()) {  // a shortcut of choose()
      if (fiber* const next = next_of_batch_fast(w)) {
        switch_to(*self, *next, cache_fiber, &w);
        continue;
      }
    }
    work found;
    if (!choose(w, found) && !search(w, found)) {
      switch_to(*self, *w.thread, cache_fiber, &w);
    } else if (found.resumed != nullptr) {
      switch_to(*self, *found.resumed, cache_fiber, &w);
    } else if (found.external != nullptr) {
      run_external_task(*self, *found.external);
    } else {
      run_slot(*self, found.task);
    }
  }
}

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "scaling_world.hpp"

// What a worker does between tasks: choosing, searching, stealing, sleeping and waking, as in
// scheduler/loop/src/loop.cpp and idle.cpp.
namespace apgas::test::scaling {
namespace {

constexpr std::chrono::microseconds usual{20};  // APGAS_IDLE
constexpr cycles end_of_round = 100;  // timers, and the instruction that lets a core relax
constexpr cycles look_most = 400;     // what one event looks at takes no longer
constexpr cycles copy_of_task = 30;

}  // namespace

// Takes work from the queues of the worker itself.
bool world::choose_own(sim_worker& w) {
  const std::uint64_t choice = ++w.choices;
  task found;
  const auto take_ready = [&] {
    fiber* const f = next_resumed(w);
    if (f != nullptr) enter(w, f);
    return f != nullptr;
  };
  const auto take_newest = [&] {
    reads(w, line_of(w.id, tail_line));
    if (w.tasks.empty()) {
      // The deque must begin again at the start of its array, as take_newest() does.
      static_cast<void>(w.tasks.take_newest(found));
      return false;
    }
    updates(w, line_of(w.id, tail_line));
    writes(w, line_of(w.id, head_line));
    if (!w.tasks.take_newest(found)) return false;
    start_slot(w, found);
    return true;
  };
  const auto take_oldest = [&] {
    if (w.tasks.empty()) return false;
    updates(w, line_of(w.id, tail_line));
    const auto wanted = [choice](const task& oldest) {
      return oldest.what != kind::continuation || scheduler::continuation_too(choice);
    };
    if (!w.tasks.take_oldest(found, wanted)) return false;
    start_slot(w, found);
    return true;
  };
  // There are no stacks here, so none is ever lacking.
  if (!scheduler::oldest_first(choice, true)) return take_ready() || take_newest();
  return take_oldest() || take_newest() || take_ready();
}

void world::choose(sim_worker& w) {
  spend(10);
  if (w.batch.noted()) {
    if (fiber* const f = next_of_batch(w)) return enter(w, f);
    task member;
    if (starts_next(w)) {
      updates(w, line_of(w.id, tail_line));
      writes(w, line_of(w.id, head_line));
      if (w.tasks.take_newest(member)) return start_slot(w, member);
    }
    return lock_leaf(w, node_event::flush, w.batch.of);
  }
  if (choose_own(w)) return;
  begin_search(w);
}

void world::count(sim_worker& w) {
  change_idle(w, [this] { idle_.begin_search(); });
  w.searches = true;
}

void world::begin_search(sim_worker& w) {
  w.searches = false;
  if (scheduler::counts_as_searching_at_once(size())) count(w);
  w.give_up = 0;
  w.rounds = 0;
  w.resumed_since = 0;
  w.look_at = 0;
  begin_round(w);
}

void world::begin_round(sim_worker& w) {
  w.next_victim = 0;
  w.visits = 0;
  w.take_resumed = false;
  w.doing = sim_worker::mode::looks;
  if (!w.pace.may_steal(now_ + spent_, size())) return;
  w.visits = w.victims.begin_round(now_ + spent_);
  if (w.visits != 0) look_for_resumed(w);
}

// Whether there have been resumed tasks at any worker for long (`patience` of loop.cpp).
void world::look_for_resumed(sim_worker& w) {
  if (now_ >= w.look_at) {
    w.look_at = now_ + scheduler::look_for_resumed_after(workers_.size());
    const cycles before = spent_;
    const bool none = std::ranges::none_of(workers_, [&](const auto& other) {
      reads(w, line_of(other->id, ready_line));
      return other->batch.may_exist || has_resumed(*other);
    });
    spent_ = before + (spent_ - before) / machine_.overlap;
    if (none) {
      w.resumed_since = 0;
    } else if (w.resumed_since == 0) {
      w.resumed_since = now_;
    }
  }
  const cycles patience = scheduler::resumed_patience_cycles(workers_.size());
  w.take_resumed = w.resumed_since != 0 && now_ - w.resumed_since > patience;
}

// Looks at some of the victims, one after the other, until one has tasks.
void world::look(sim_worker& w) {
  while (w.next_victim < w.visits) {
    const sim_worker& victim = at(w.victims[w.next_victim]);
    const cycles before = spent_;
    reads(w, line_of(victim.id, head_line));
    reads(w, line_of(victim.id, tail_line));
    if (w.take_resumed) {
      reads(w, line_of(victim.id, ready_line));
      reads(w, line_of(victim.id, batch_head_line));
      reads(w, line_of(victim.id, batch_tail_line));
    }
    if (const cycles cost = spent_ - before; cost > 4 * machine_.transfer[0])
      spent_ = before + cost / machine_.overlap;
    ++result_.looks;
    if (!victim.tasks.empty() || (w.take_resumed && has_resumed(victim))) {
      w.doing = sim_worker::mode::steals;
      return;
    }
    ++w.next_victim;
    if (spent_ >= look_most) return;
  }
  end_round(w);
}

void world::end_round(sim_worker& w) {
  if (w.visits != 0) w.victims.found_none(now_ + spent_);
  spend(end_of_round);
  if ((++w.rounds & 31U) == 0) {
    if (!w.searches) count(w);
    const cycles now = now_ + spent_;
    if (w.give_up == 0) {
      const auto idle = scheduler::idle_time(usual, size(), w.batch.in_lock_step);
      w.give_up = now + static_cast<cycles>(cycles_per_ns * static_cast<double>(idle.count()));
    } else if (now > w.give_up) {
      w.give_up = 0;
      if (w.pace.pause_is_over(now)) {
        w.batch.in_lock_step = false;
        w.doing = sim_worker::mode::falls_asleep;
        return;
      }
    }
  }
  if (choose_own(w)) {
    end_search(w, false);
    return;
  }
  begin_round(w);
}

void world::steal(sim_worker& w) {
  sim_worker& victim = at(w.victims[w.next_victim]);
  const cycles begun = now_;
  w.doing = sim_worker::mode::looks;
  if (!victim.tasks.empty()) {
    task taken[scheduler::steal_most];
    // A request that was made within the patience: the thief reads that and goes on.
    const bool waits = victim.asked_at != 0 && begun - victim.asked_at <= patience_;
    const auto got = victim.tasks.steal(taken, scheduler::steal_most, {begun + 1, patience_});
    if (got.fenced) {
      barrier(w);
      ++result_.fences;
      victim.asked_at = 0;
    }
    if (got.tasks != 0) {
      updates(w, line_of(victim.id, tail_line));
      spend(machine_.transfer[machine_.distance(w.id, victim.id)] * got.tasks / machine_.overlap +
            copy_of_task * got.tasks);
      victim.asked_at = 0;
      if (got.tasks > 1) {
        updates(w, line_of(w.id, tail_line));
        writes(w, line_of(w.id, head_line));
        w.tasks.push_counted(taken + 1, got.tasks - 1);
      }
      ++result_.steals;
      result_.stolen += got.tasks;
      w.pace.stole(got.tasks, begun, now_ + spent_, got.fenced);
      w.victims.found(w.next_victim);
      start_slot(w, taken[0]);
      end_search(w, true);
      return;
    }
    if (!waits && !got.fenced) {  // it has asked, or found the last task taken
      updates(w, line_of(victim.id, tail_line));
      writes(w, line_of(victim.id, head_line));
      victim.asked_at = begun + 1;
    }
  }
  if (w.take_resumed && steal_resumed(w, victim, begun)) return;
  ++w.next_victim;
}

void world::end_search(sim_worker& w, bool stole) {
  if (!w.searches) {
    if (stole) notify(w);
    return;
  }
  w.searches = false;
  const bool woken = std::exchange(w.woken, false);
  std::array<entry*, 2> taken{};
  change_idle(w, [&] { taken = idle_.end_search(woken && stole); });
  for (entry* const next : taken) {
    if (next != nullptr) wake(next);
  }
}

void world::notify(sim_worker& w) {
  reads(w, wanted_line());
  if (!idle_.wanted()) return;
  entry* e = nullptr;
  change_idle(w, [&] { e = idle_.take_sleeper(); });
  if (e != nullptr) wake(e);
}

void world::wake(entry* e) {
  ++result_.wakes;
  spend(machine_.futex_wake);
  sim_worker& other = at(e->id);
  ++awake_;
  other.doing = sim_worker::mode::looks;
  other.next_victim = 0;
  other.visits = 0;  // it looks at its own queues first
  other.take_resumed = false;
  other.resumed_since = 0;
  other.look_at = 0;
  other.searches = true;
  other.woken = true;
  other.rounds = 0;
  other.give_up = 0;
  other.interrupted = 0;
  events_.emplace(now_ + spent_ + machine_.wake_latency, e->id);
}

bool world::any_work() {
  return std::ranges::any_of(workers_,
                             [](const auto& w) { return !w->tasks.empty() || has_resumed(*w); });
}

void world::fall_asleep(sim_worker& w) {
  w.woken = false;
  change_idle(w, [&] { static_cast<void>(idle_.announce_sleep(&w.in_list)); });
  const cycles before = spent_;
  for (const auto& other : workers_) {
    other->tasks.raise_attention();
    writes(w, line_of(other->id, head_line));
  }
  spent_ = before + (spent_ - before) / machine_.overlap;
  barrier(w);
  for (const auto& other : workers_) reads(w, line_of(other->id, tail_line));
  // The final check looks at the queues as they are when the fence is over. Work that appears until
  // then comes with a call of notify(), since the attention words are set.
  if (any_work()) {
    if (idle_.cancel_sleep(&w.in_list)) return begin_round(w);
  }
  ++result_.sleeps;
  --awake_;
  w.doing = sim_worker::mode::sleeps;
}

}  // namespace apgas::test::scaling

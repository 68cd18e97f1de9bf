// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scaling_world.hpp"

// The scheduling loop: choosing, searching, stealing, sleeping and waking, as in
// scheduler/loop/src/loop.cpp and idle.cpp.
namespace apgas::test::scaling {
namespace {

constexpr std::size_t slots_of_worker = std::size_t{1} << 15U;
constexpr cycles spin = 49'000;       // APGAS_IDLE: 20 us
constexpr cycles end_of_round = 100;  // timers, and the instruction that lets a core relax
constexpr cycles look_most = 400;     // what one event looks at takes no longer
constexpr cycles copy_of_task = 30;

}  // namespace

world::world(const machine& m, int workers)
    : machine_(m),
      patience_(scheduler::answer_patience_cycles(workers)),
      lines_(machine_, workers, static_cast<std::size_t>(workers) * lines_of_worker + 1) {
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<sim_worker>());
    sim_worker& w = *workers_.back();
    w.id = w.in_list.id = i;
    w.slots.resize(slots_of_worker);
    w.tasks.reset(w.slots.data(), slots_of_worker, false);
    w.victims = scheduler::victim_order(i, workers,
                                        [this](int a, int b) { return -machine_.distance(a, b); });
  }
}

result world::run(const program& p) {
  program_ = p;
  result_ = {};
  ended_ = false;
  for (int i = size() - 1; i > 0; --i) {
    idle_.begin_search();
    static_cast<void>(idle_.announce_sleep(&at(i).in_list));
    at(i).tasks.raise_attention();
    at(i).doing = sim_worker::mode::sleeps;
  }
  at(0).tasks.raise_attention();
  awake_ = 1;
  resumed_ = 0;
  sim_worker& first = at(0);
  fiber* const root = new_fiber();
  root->stack.push_back({.is = frame::role::finish, .t = {}, .join = new_counter()});
  task t = p.root;
  t.of = root->stack.back().join;
  root->stack.push_back({.t = t});
  enter(first, root);
  root->stack.front().mark = root->base;
  events_.emplace(0, 0);
  while (!ended_) {
    const auto [time, id] = events_.top();
    events_.pop();
    sim_worker& w = at(id);
    now_ = time;
    spent_ = std::exchange(w.interrupted, 0);
    if (spent_ == 0) step(w);
    if (w.doing != sim_worker::mode::sleeps)
      events_.emplace(now_ + std::max<cycles>(spent_, 1), id);
  }
  result_.time = now_ + spent_;
  return result_;
}

void world::step(sim_worker& w) {
  using enum sim_worker::mode;
  switch (w.doing) {
    case runs:
      return run_fiber(w);
    case chooses:
      return choose(w);
    case looks:
      return look(w);
    case steals:
      return steal(w);
    case falls_asleep:
      return fall_asleep(w);
    case sleeps:
      break;
  }
}

// Threads that want a barrier while one is in progress share the next one (shared_barrier.hpp).
void world::barrier(sim_worker& w) {
  const cycles now = now_ + spent_;
  const cycles cost =
      machine_.barrier + machine_.barrier_for_each * static_cast<cycles>(awake_ - 1);
  bool begins = true;
  if (now >= next_barrier_ends_) {
    barrier_ends_ = next_barrier_ends_ = now + cost;
  } else if (now >= barrier_ends_ || next_barrier_ends_ == barrier_ends_) {
    barrier_ends_ = next_barrier_ends_;
    next_barrier_ends_ += cost;
  } else {
    begins = false;
  }
  spend(next_barrier_ends_ - now);
  if (!begins) return;
  for (const auto& other : workers_) {
    if (other.get() != &w && other->doing != sim_worker::mode::sleeps)
      other->interrupted += machine_.interrupt;
  }
}

// Takes work from the queues of the worker itself.
bool world::choose_own(sim_worker& w) {
  const std::uint64_t choice = ++w.choices;
  task found;
  const auto take_ready = [&] {
    reads(w, line_of(w.id, ready_line));
    if (w.ready.empty()) return false;
    updates(w, line_of(w.id, ready_line));
    fiber* const f = w.ready.front();
    w.ready.pop_front();
    --resumed_;
    enter(w, f);
    return true;
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
      return oldest.what != kind::continuation || (choice & 255U) == 0;
    };
    if (!w.tasks.take_oldest(found, wanted)) return false;
    start_slot(w, found);
    return true;
  };
  if (!scheduler::oldest_first(choice)) return take_ready() || take_newest();
  return take_oldest() || take_newest() || take_ready();
}

void world::choose(sim_worker& w) {
  spend(10);
  if (choose_own(w)) return;
  begin_search(w);
}

void world::begin_search(sim_worker& w) {
  updates(w, idle_line());
  idle_.begin_search();
  w.searches = true;
  w.give_up = 0;
  w.rounds = 0;
  w.resumed_since = 0;
  begin_round(w);
}

void world::begin_round(sim_worker& w) {
  w.next_victim = 0;
  w.visits = w.victims.begin_round(now_ + spent_);
  w.doing = sim_worker::mode::looks;
  // Whether there are resumed tasks at any worker.
  spend(machine_.transfer[0] * workers_.size() / 2);
  if (resumed_ == 0) {
    w.resumed_since = 0;
    w.take_resumed = false;
  } else {
    if (w.resumed_since == 0) w.resumed_since = now_;
    w.take_resumed = now_ - w.resumed_since > scheduler::resumed_patience_cycles;
  }
  if (!w.pace.may_steal(now_ + spent_, size())) w.next_victim = w.visits;
}

// Looks at some of the victims, one after the other, until one has tasks.
void world::look(sim_worker& w) {
  while (w.next_victim < w.visits) {
    const sim_worker& victim = at(w.victims[w.next_victim]);
    const cycles before = spent_;
    reads(w, line_of(victim.id, head_line));
    reads(w, line_of(victim.id, tail_line));
    if (w.take_resumed) reads(w, line_of(victim.id, ready_line));
    if (const cycles cost = spent_ - before; cost > 4 * machine_.transfer[0])
      spent_ = before + cost / machine_.overlap;
    ++result_.looks;
    if (!victim.tasks.empty() || (w.take_resumed && !victim.ready.empty())) {
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
    const cycles now = now_ + spent_;
    if (w.give_up == 0) {
      w.give_up = now + spin;
    } else if (now > w.give_up) {
      w.give_up = 0;
      if (w.pace.pause_is_over(now)) {
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
  if (w.take_resumed && !victim.ready.empty()) {
    updates(w, line_of(victim.id, ready_line));
    fiber* const f = victim.ready.front();
    victim.ready.pop_front();
    --resumed_;
    w.victims.found(w.next_victim);
    enter(w, f);
    end_search(w, true);
    return;
  }
  ++w.next_victim;
}

void world::end_search(sim_worker& w, bool stole) {
  w.searches = false;
  updates(w, idle_line());
  const bool woken = std::exchange(w.woken, false);
  for (entry* const next : idle_.end_search(woken && stole)) {
    if (next != nullptr) wake(next);
  }
}

void world::notify(sim_worker& w) {
  reads(w, idle_line());
  if (!idle_.wanted()) return;
  updates(w, idle_line());
  if (entry* const e = idle_.take_sleeper()) wake(e);
}

void world::wake(entry* e) {
  ++result_.wakes;
  spend(machine_.futex_wake);
  sim_worker& other = at(e->id);
  ++awake_;
  other.doing = sim_worker::mode::looks;
  other.next_victim = 0;
  other.visits = other.victims.begin_round(now_);
  other.take_resumed = false;
  other.searches = true;
  other.woken = true;
  other.rounds = 0;
  other.give_up = 0;
  other.interrupted = 0;
  events_.emplace(now_ + spent_ + machine_.wake_latency, e->id);
}

bool world::any_work() {
  return resumed_ != 0 ||
         std::ranges::any_of(workers_, [](const auto& w) { return !w->tasks.empty(); });
}

void world::fall_asleep(sim_worker& w) {
  w.woken = false;
  updates(w, idle_line());
  static_cast<void>(idle_.announce_sleep(&w.in_list));
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

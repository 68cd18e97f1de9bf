// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scaling_world.hpp"

// The workers and the events. What a worker does between tasks is in scaling_search.cpp.
namespace apgas::test::scaling {
namespace {

constexpr std::size_t slots_of_worker = std::size_t{1} << 15U;

}  // namespace

world::world(const machine& m, int workers)
    : machine_(m),
      patience_(scheduler::answer_patience_cycles(workers)),
      lines_(machine_, workers, lines_of(workers)) {
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<sim_worker>());
    sim_worker& w = *workers_.back();
    w.id = w.in_list.id = i;
    w.slots.resize(slots_of_worker);
    w.tasks.reset(w.slots.data(), slots_of_worker, false);
    w.batch.memory = new_block(w);
    w.batch.waiting = new_block(w);
    w.batch.tasks.reset(w.batch.memory->at.data(), block::capacity, false);
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
  clock_.leaves.resize(static_cast<std::size_t>(leaves_of(size())));
  // The task that spawns the members takes part in the first phase.
  if (p.phases != 0) join(0);
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
    if (w.doing != sim_worker::mode::sleeps && w.doing != sim_worker::mode::waits_for_lock)
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
    case holds_lock:
      return update_leaf(w);
    case resumes:
      return resume_next_blocks(w);
    case waits_for_lock:
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

}  // namespace apgas::test::scaling

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include "scaling_world.hpp"

// Clocks: a task that advances, and the phaser tree nodes that it arrives at, as in
// sync/registrations/src/phases.cpp, switch_to_next.hpp, sync/phases/src/phaser_tree_node.cpp and
// scheduler/loop/src/fiber_switch.cpp. A worker that wants the lock of the node waits in a queue;
// the actual lock is not fair.
namespace apgas::test::scaling {
namespace {

constexpr unsigned phases_between_looks = 32;  // of phases.cpp
constexpr cycles update_cost = 40;             // the instructions under the lock
constexpr std::int64_t crowd = 32;             // of phase_core.hpp

}  // namespace

int world::leaf_of(const sim_worker& w) const {
  return clock_.is_tree ? w.id * static_cast<int>(clock_.leaves.size()) / size() : 0;
}

// Registers a member at the leaf. Its cost is that of another update, or part of the spawn's.
void world::join(int i) {
  simulated_leaf& l = leaf(i);
  if (size() > sync::flat_up_to_workers && l.counter.unarrived() >= crowd) clock_.is_tree = true;
  static_cast<void>(l.counter.join(l.counter.phase()));
  if (!std::exchange(l.unarrived, true)) ++clock_.unarrived;
}

void world::move_to_leaf_of(sim_worker& w, fiber& f) {
  const int from = std::exchange(f.leaf, leaf_of(w));
  if (f.leaf == from) return;
  simulated_leaf& old = leaf(from);
  updates(w, lock_line(f.leaf));
  updates(w, lock_line(from));
  spend(2 * update_cost);
  join(f.leaf);
  static_cast<void>(old.counter.leave(old.counter.phase()));
  if (old.counter.unarrived() != 0) return;
  updates(w, root_line());
  old.unarrived = false;
  --clock_.unarrived;
}

// A phase of a member: its work, and its arrival in an event of its own.
void world::run_member(sim_worker& w) {
  fiber& f = *w.current;
  frame& top = f.stack.back();
  switch (top.step) {
    case 0: {
      if (f.last_on < 0) move_to_leaf_of(w, f);
      batches& b = w.batch;
      const std::int64_t phase = leaf(f.leaf).counter.phase();
      if (b.phase != phase) {
        b.phase = phase;
        b.ran_before = std::exchange(b.ran, 0);
      }
      ++b.ran;
      spend(machine_.switch_among(std::max(b.ran, b.ran_before)) - machine_.switch_fiber);
      if (const int from = std::exchange(f.last_on, w.id); from >= 0 && from != w.id) {
        ++result_.moved;
        spend(machine_.lines_of_task * machine_.transfer[machine_.distance(from, w.id)] /
              machine_.overlap);
      }
      compute(program_.per_task);
      top.step = 1;
      return;
    }
    case 1:
      top.step = 0;
      return advance(w);
    default:  // it was the last to arrive, and goes on without leaving its worker
      top.step = 0;
      if (++w.batch.phases_in_a_row % phases_between_looks == 0) yield_to_loop(w);
  }
}

void world::advance(sim_worker& w) {
  if (switch_to_next(w) || switch_to_start(w)) return;
  fiber& f = *w.current;
  if (w.batch.of != f.leaf) move_to_leaf_of(w, f);
  reads(w, lock_line(f.leaf));
  const std::size_t more = w.batch.of == f.leaf && w.batch.noted() ? w.batch.waiting->size : 0;
  // Of the workers that complete their leaves, only the one that completes the root, too, goes on
  // with the task. The others lock their leaf once more, which is left out.
  if (leaf(f.leaf).counter.unarrived() != static_cast<std::int64_t>(1 + more) ||
      clock_.unarrived != 1)
    return park(w);
  f.stack.back().step = 2;
  lock_leaf(w, node_event::update, f.leaf);
}

bool world::starts_next(const sim_worker& w) const {
  return !w.tasks.empty() && w.tasks.head()[-1].what == kind::member;
}

bool world::switch_to_next(sim_worker& w) {
  if (w.batch.of != w.current->leaf || !w.tasks.is_published()) return false;
  fiber* next = next_of_batch_fast(w);
  if (next == nullptr) next = next_of_batch(w);
  if (next == nullptr) return false;
  block& waiting = *w.batch.waiting;
  waiting.at[waiting.size++] = {.task = w.current};
  ++w.current->generation;
  enter(w, next);
  return true;
}

bool world::switch_to_start(sim_worker& w) {
  // A member that starts on a worker of another leaf than it was spawned for is no next one.
  if (!w.batch.tasks.empty() || !starts_next(w) || w.current->leaf != 0) return false;
  if (w.batch.noted() && w.batch.of != 0) return false;
  note_arrivals(w, 0);
  block& waiting = *w.batch.waiting;
  if (waiting.size == block::capacity) return false;
  waiting.at[waiting.size++] = {.task = w.current};
  ++w.current->generation;
  ++result_.suspensions;
  publish(w);
  w.current = nullptr;
  w.doing = sim_worker::mode::chooses;
  spend(machine_.switch_fiber);
  return true;
}

// Leaves the current task. Its context has been saved when it is parked.
void world::park(sim_worker& w) {
  fiber* const f = w.current;
  ++f->generation;
  ++result_.suspensions;
  publish(w);
  fiber* next = nullptr;
  if ((++w.direct_switches & 7U) != 0) {
    next = next_of_batch(w);
    if (next == nullptr && !w.ready.empty()) {
      updates(w, line_of(w.id, ready_line));
      next = w.ready.front();
      w.ready.pop_front();
    }
  }
  spend(machine_.switch_fiber);
  w.left = f;
  w.current = next;
  lock_leaf(w, node_event::park, f->leaf);
}

void world::yield_to_loop(sim_worker& w) {
  fiber* const f = std::exchange(w.current, nullptr);
  ++f->generation;
  publish(w);
  w.doing = sim_worker::mode::chooses;
  spend(machine_.switch_fiber);
  resume(w, f);
}

// From now on the worker waits for the lock of the leaf, or has it.
void world::lock_leaf(sim_worker& w, node_event e, int i) {
  w.event = e;
  w.leaf = i;
  simulated_leaf& l = leaf(i);
  if (l.locked) {
    reads(w, lock_line(i));
    l.waits_for_lock.push_back(w.id);
    w.doing = sim_worker::mode::waits_for_lock;
    return;
  }
  l.locked = true;
  updates(w, lock_line(i));
  w.doing = sim_worker::mode::holds_lock;
}

void world::update_leaf(sim_worker& w) {
  ++result_.locks;
  spend(update_cost);
  writes(w, lists_line(w.leaf));
  sync::phase_counter& counter = leaf(w.leaf).counter;
  switch (w.event) {
    case node_event::flush:
      take_arrivals(w);
      break;
    case node_event::park:
      static_cast<void>(counter.signal(counter.phase()));
      take_arrivals(w);
      park_in(w, list_of(w, w.leaf), std::exchange(w.left, nullptr));
      break;
    case node_event::update:
      static_cast<void>(counter.signal(counter.phase()));
      take_arrivals(w);
      break;
    case node_event::leave:
      static_cast<void>(counter.leave(counter.phase()));
      break;
  }
  conclude(w);
  unlock_leaf(w);
  if (w.released != nullptr) {
    w.doing = sim_worker::mode::resumes;
  } else {
    after_update(w);
  }
}

block*& world::list_of(const sim_worker& w, int i) {
  simulated_leaf& l = leaf(i);
  const auto last = std::bit_ceil(std::min(workers_.size(), simulated_leaf::most_lists)) - 1;
  const std::size_t list = static_cast<std::size_t>(w.id) & last;
  if (l.parked[list] == nullptr) l.used.push_back(list);
  return l.parked[list];
}

void world::take_arrivals(sim_worker& w) {
  if (!w.batch.noted() || w.batch.of != w.leaf) return;
  block* const waiting = std::exchange(w.batch.waiting, new_block(w));
  waiting->leaf = w.leaf;
  sync::phase_counter& counter = leaf(w.leaf).counter;
  static_cast<void>(counter.signal(counter.phase(), static_cast<std::int64_t>(waiting->size)));
  join_blocks(w, list_of(w, w.leaf), waiting);
}

// Tells the root if the last task of the leaf has arrived, and ends the phase if it is the last
// leaf.
void world::conclude(sim_worker& w) {
  simulated_leaf& l = leaf(w.leaf);
  if (l.counter.unarrived() != 0 || !std::exchange(l.unarrived, false)) return;
  if (clock_.is_tree) {
    updates(w, root_line());
    spend(update_cost);
  }
  if (--clock_.unarrived == 0) end_phase(w);
}

void world::end_phase(sim_worker& w) {
  for (simulated_leaf& l : clock_.leaves) advance_leaf(w, l);
  if (w.batch.tasks.empty()) batch_is_over(w);
  const std::int64_t phase = clock_.leaves.back().counter.phase();
  if (phase == program_.phases / 2) clock_.measured_from = now_ + spent_;
  if (phase != program_.phases) return;
  result_.phases = static_cast<std::uint64_t>(program_.phases - program_.phases / 2);
  result_.phases_time = now_ + spent_ - clock_.measured_from;
  ended_ = true;
}

// Takes all lists, and so writes to the last block of each.
void world::advance_leaf(sim_worker& w, simulated_leaf& l) {
  const int i = static_cast<int>(&l - clock_.leaves.data());
  if (clock_.is_tree) {
    updates(w, lock_line(i));
    writes(w, lists_line(i));
    spend(update_cost);
  }
  static_cast<void>(l.counter.advance_phase());
  if (l.counter.unarrived() != 0) {
    l.unarrived = true;
    ++clock_.unarrived;
  }
  for (; !l.used.empty(); l.used.pop_back()) {
    block* const list = std::exchange(l.parked[l.used.back()], nullptr);
    block* last = list;
    while (last->next != nullptr) last = last->next;
    spend(machine_.transfer[machine_.distance(w.id, last->on)] / machine_.overlap);
    last->next = std::exchange(w.released, list);
  }
}

// Each worker that waits reads the line again before the next one can write it.
void world::unlock_leaf(sim_worker& w) {
  writes(w, lock_line(w.leaf));
  simulated_leaf& l = leaf(w.leaf);
  auto& waiting = l.waits_for_lock;
  l.locked = !waiting.empty();
  if (waiting.empty()) return;
  sim_worker& next = at(waiting.front());
  waiting.pop_front();
  const cycles hand_over = 2 * machine_.transfer[machine_.distance(w.id, next.id)] +
                           machine_.locked_update + machine_.spinning_read * waiting.size();
  next.doing = sim_worker::mode::holds_lock;
  lines_.write(next.id, lock_line(w.leaf), now_, spent_);
  events_.emplace(now_ + spent_ + hand_over, next.id);
}

// What a worker does after it has released the lock, and resumed the tasks of the next phase.
void world::after_update(sim_worker& w) {
  using enum sim_worker::mode;
  w.doing = w.current != nullptr ? runs : chooses;
  if (w.event == node_event::park && w.current != nullptr) enter(w, w.current);
}

}  // namespace apgas::test::scaling

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include "scaling_world.hpp"

// Clocks: a task that advances, and the phaser tree node that it arrives at, as in
// sync/registrations/src/phases.cpp, switch_to_next.hpp, sync/phases/src/phaser_tree_node.cpp and
// scheduler/loop/src/fiber_switch.cpp. A worker that wants the lock of the node waits in a queue;
// the actual lock is not fair.
namespace apgas::test::scaling {
namespace {

constexpr unsigned phases_between_looks = 32;  // of phases.cpp
constexpr cycles update_cost = 40;             // the instructions under the lock

}  // namespace

// A phase of a member: its work, and its arrival in an event of its own.
void world::run_member(sim_worker& w) {
  fiber& f = *w.current;
  frame& top = f.stack.back();
  switch (top.step) {
    case 0: {
      batches& b = w.batch;
      if (b.phase != clock_.counter.phase()) {
        b.phase = clock_.counter.phase();
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
  reads(w, clock_line());
  const auto signals = static_cast<std::int64_t>(1 + (w.batch.noted() ? w.batch.waiting->size : 0));
  if (clock_.counter.unarrived() != signals) return park(w);
  w.current->stack.back().step = 2;
  lock_clock(w, node_event::update);
}

bool world::starts_next(const sim_worker& w) const {
  return !w.tasks.empty() && w.tasks.head()[-1].what == kind::member;
}

bool world::switch_to_next(sim_worker& w) {
  if (!w.batch.notes_arrivals || !w.tasks.is_published()) return false;
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
  if (!w.batch.tasks.empty() || !starts_next(w)) return false;
  note_arrivals(w);
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
  lock_clock(w, node_event::park);
}

void world::yield_to_loop(sim_worker& w) {
  fiber* const f = std::exchange(w.current, nullptr);
  ++f->generation;
  publish(w);
  w.doing = sim_worker::mode::chooses;
  spend(machine_.switch_fiber);
  resume(w, f);
}

// From now on the worker waits for the lock of the clock, or has it.
void world::lock_clock(sim_worker& w, node_event e) {
  w.event = e;
  if (clock_.locked) {
    reads(w, clock_line());
    clock_.waits_for_lock.push_back(w.id);
    w.doing = sim_worker::mode::waits_for_lock;
    return;
  }
  clock_.locked = true;
  updates(w, clock_line());
  w.doing = sim_worker::mode::holds_lock;
}

void world::update_clock(sim_worker& w) {
  ++result_.locks;
  spend(update_cost);
  writes(w, lists_line());
  sync::phase_counter& counter = clock_.counter;
  switch (w.event) {
    case node_event::flush:
      take_arrivals(w);
      break;
    case node_event::park:
      static_cast<void>(counter.signal(counter.phase()));
      take_arrivals(w);
      park_in(w, list_of(w), std::exchange(w.left, nullptr));
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
  unlock_clock(w);
  if (w.released != nullptr) {
    w.doing = sim_worker::mode::resumes;
  } else {
    after_update(w);
  }
}

block*& world::list_of(const sim_worker& w) {
  const auto last = std::bit_ceil(std::min(workers_.size(), simulated_clock::most_lists)) - 1;
  const std::size_t list = static_cast<std::size_t>(w.id) & last;
  if (clock_.parked[list] == nullptr) clock_.used.push_back(list);
  return clock_.parked[list];
}

void world::take_arrivals(sim_worker& w) {
  if (!w.batch.noted()) return;
  block* const waiting = std::exchange(w.batch.waiting, new_block(w));
  static_cast<void>(
      clock_.counter.signal(clock_.counter.phase(), static_cast<std::int64_t>(waiting->size)));
  join_blocks(w, list_of(w), waiting);
}

// If the last task has arrived, takes all lists to their ends, and so reads each block.
void world::conclude(sim_worker& w) {
  if (clock_.counter.unarrived() != 0) return;
  static_cast<void>(clock_.counter.advance_phase());
  block* all = nullptr;
  for (; !clock_.used.empty(); clock_.used.pop_back()) {
    block* const list = std::exchange(clock_.parked[clock_.used.back()], nullptr);
    block* last = list;
    for (;; last = last->next) {
      spend(machine_.transfer[machine_.distance(w.id, last->on)]);
      if (last->next == nullptr) break;
    }
    last->next = all;
    all = list;
  }
  w.released = all;
  const std::int64_t phase = clock_.counter.phase();
  if (phase == program_.phases / 2) clock_.measured_from = now_ + spent_;
  if (phase != program_.phases) return;
  result_.phases = static_cast<std::uint64_t>(program_.phases - program_.phases / 2);
  result_.phases_time = now_ + spent_ - clock_.measured_from;
  ended_ = true;
}

// Each worker that waits reads the line again before the next one can write it.
void world::unlock_clock(sim_worker& w) {
  writes(w, clock_line());
  auto& waiting = clock_.waits_for_lock;
  clock_.locked = !waiting.empty();
  if (waiting.empty()) return;
  sim_worker& next = at(waiting.front());
  waiting.pop_front();
  const cycles hand_over = 2 * machine_.transfer[machine_.distance(w.id, next.id)] +
                           machine_.locked_update + machine_.spinning_read * waiting.size();
  next.doing = sim_worker::mode::holds_lock;
  lines_.write(next.id, clock_line(), now_, spent_);
  events_.emplace(now_ + spent_ + hand_over, next.id);
}

// What a worker does after it has released the lock, and resumed the tasks of the next phase.
void world::after_update(sim_worker& w) {
  using enum sim_worker::mode;
  w.doing = w.current != nullptr ? runs : chooses;
  if (w.event == node_event::park && w.current != nullptr) enter(w, w.current);
}

}  // namespace apgas::test::scaling

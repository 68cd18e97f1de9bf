// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "scaling_world.hpp"

// Batches: filling blocks, resuming them, running them and stealing from them, as in
// scheduler/loop/src/batch.cpp and loop.cpp.
namespace apgas::test::scaling {
namespace {

constexpr cycles copy_of_entry = 4;

}  // namespace

block* world::new_block(const sim_worker& w) {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<block>());
    free_blocks_.push_back(blocks_.back().get());
  }
  block* const b = free_blocks_.back();
  free_blocks_.pop_back();
  b->next = nullptr;
  b->on = w.id;
  b->size = 0;
  return b;
}

fiber* world::next_of_batch_fast(sim_worker& w) {
  parked_task s;
  writes(w, line_of(w.id, batch_head_line));
  return w.batch.tasks.take_top_fast(s) ? s.task : nullptr;
}

// Also answers a thief.
fiber* world::next_of_batch(sim_worker& w) {
  parked_task s;
  if (w.batch.tasks.empty()) return nullptr;
  writes(w, line_of(w.id, batch_head_line));
  if (std::exchange(w.batch.asked_at, 0) != 0) updates(w, line_of(w.id, batch_tail_line));
  return w.batch.tasks.take_top(s) ? s.task : nullptr;
}

// A fiber of the batch or of the ready queue; takes single fibers and blocks in turn.
fiber* world::next_resumed(sim_worker& w) {
  if (fiber* const f = next_of_batch(w)) return f;
  batches& b = w.batch;
  batch_is_over(w);
  reads(w, line_of(w.id, ready_line));
  if (!b.to_pass_on.empty()) pass_on_blocks(w);
  if (w.ready.empty() && b.ready.empty()) return nullptr;
  updates(w, line_of(w.id, ready_line));
  b.blocks_first = !b.blocks_first;
  if (w.ready.empty() || (b.blocks_first && !b.ready.empty())) {
    block* const first = b.ready.front();
    b.ready.pop_front();
    begin_batch(w, first);
    notify(w);
    return next_of_batch(w);
  }
  fiber* const f = w.ready.front();
  w.ready.pop_front();
  return f;
}

void world::note_arrivals(sim_worker& w, int leaf) { w.batch.of = leaf; }

void world::begin_batch(sim_worker& w, block* b) {
  w.batch.in_lock_step = true;
  w.batch.may_exist = true;
  writes(w, line_of(w.id, ready_line));
  note_arrivals(w, b->leaf);
  updates(w, line_of(w.id, batch_tail_line));
  writes(w, line_of(w.id, batch_head_line));
  w.batch.tasks.adopt(b->at.data(), b->size);
  w.batch.asked_at = 0;
  drop_block(std::exchange(w.batch.memory, b));
}

void world::join_blocks(sim_worker& w, block*& list, block* more) {
  if (list != nullptr && list->on == w.id) {
    const std::size_t n = std::min(more->size, block::capacity - list->size);
    std::copy_n(more->at.begin() + static_cast<std::ptrdiff_t>(more->size - n), n,
                list->at.begin() + static_cast<std::ptrdiff_t>(list->size));
    spend(copy_of_entry * n);
    list->size += n;
    more->size -= n;
  }
  if (more->size == 0) return drop_block(more);
  more->next = list;
  list = more;
}

void world::park_in(sim_worker& w, block*& list, fiber* f) {
  if (list == nullptr || list->size == block::capacity || list->on != w.id) {
    block* const b = new_block(w);
    b->leaf = f->leaf;
    b->next = list;
    list = b;
  }
  list->at[list->size++] = {.task = f};
}

// One step of resume_blocks(): the worker that has ended a phase hands the next worker its blocks,
// or those of a whole leaf.
void world::resume_next_blocks(sim_worker& w) {
  block* const first = w.released;
  if (first == nullptr) {
    notify(w);
    return after_update(w);
  }
  sim_worker& owner = at(first->on);
  if (first->leaf != leaf_of(w)) {
    block* last = first;
    for (;; last = last->next) {
      owner.batch.to_pass_on.push_back(last);
      if (last->next == nullptr || last->next->leaf != first->leaf) break;
    }
    w.released = std::exchange(last->next, nullptr);
    updates(w, line_of(owner.id, ready_line));
    notify(w);
    return;
  }
  if (&owner == &w && w.batch.tasks.empty() && !w.batch.noted()) {
    w.released = first->next;
    return begin_batch(w, first);
  }
  block* last = first;
  for (;; last = last->next) {
    owner.batch.ready.push_back(last);
    if (last->next == nullptr || last->next->on != first->on) break;
  }
  w.released = std::exchange(last->next, nullptr);
  spend(machine_.transfer[machine_.distance(w.id, owner.id)]);  // the end of its list is marked
  updates(w, line_of(owner.id, ready_line));
}

void world::batch_is_over(sim_worker& w) {
  if (std::exchange(w.batch.may_exist, false)) writes(w, line_of(w.id, ready_line));
}

void world::pass_on_blocks(sim_worker& w) {
  updates(w, line_of(w.id, ready_line));
  int last = -1;
  for (block* const b : std::exchange(w.batch.to_pass_on, {})) {
    sim_worker& owner = at(b->on);
    spend(machine_.transfer[machine_.distance(w.id, owner.id)]);
    owner.batch.ready.push_back(b);
    if (std::exchange(last, owner.id) != owner.id) updates(w, line_of(owner.id, ready_line));
  }
  notify(w);
}

void world::take_resumed(sim_worker& w, fiber* f) {
  w.victims.found(w.next_victim);
  enter(w, f);
  end_search(w, true);
}

bool world::steal_resumed(sim_worker& w, sim_worker& victim, cycles begun) {
  batches& from = victim.batch;
  if (!from.tasks.empty()) {
    parked_task some[scheduler::steal_most];
    const bool waits = from.asked_at != 0 && begun - from.asked_at <= patience_;
    const auto got = from.tasks.steal(some, scheduler::steal_most, {begun + 1, patience_});
    if (got.fenced) {
      barrier(w);
      ++result_.fences;
      from.asked_at = 0;
    }
    if (got.tasks != 0) {
      updates(w, line_of(victim.id, batch_tail_line));
      for (std::size_t i = 1; i < got.tasks; ++i) w.ready.push_back(some[i].task);
      updates(w, line_of(w.id, ready_line));
      from.asked_at = 0;
      ++result_.steals;
      result_.stolen += got.tasks;
      w.pace.stole(got.tasks, begun, now_ + spent_, got.fenced);
      take_resumed(w, some[0].task);
      return true;
    }
    if (!waits && !got.fenced) {  // it has asked, or found the last task taken
      updates(w, line_of(victim.id, batch_tail_line));
      writes(w, line_of(victim.id, batch_head_line));
      from.asked_at = begun + 1;
    }
  }
  if (victim.ready.empty() && from.ready.empty() && from.to_pass_on.empty()) return false;
  updates(w, line_of(victim.id, ready_line));
  if (from.ready.empty() && !from.to_pass_on.empty()) {
    from.ready.push_back(from.to_pass_on.front());
    from.to_pass_on.pop_front();
  }
  from.blocks_first = !from.blocks_first;
  if (victim.ready.empty() || (from.blocks_first && !from.ready.empty())) {
    block* const b = from.ready.front();
    from.ready.pop_front();
    ++result_.steals;
    result_.stolen += b->size;
    w.pace.stole(b->size, begun, now_ + spent_, false);
    begin_batch(w, b);
    take_resumed(w, next_of_batch(w));
    return true;
  }
  fiber* const f = victim.ready.front();
  victim.ready.pop_front();
  take_resumed(w, f);
  return true;
}

}  // namespace apgas::test::scaling

// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/phaser_tree_node.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/phase_core.hpp>

namespace apgas::inline v0::sync {

using change = phase_counter::change;

namespace {

// A clock does not take more memory on a larger machine. Workers that share a list fill their
// blocks less if they park tasks in turns.
constexpr unsigned most_lists = 64;

}  // namespace

phaser_tree_node::phaser_tree_node(phase_core& core, phaser_tree_node* parent, int workers,
                                   std::int64_t children, std::int64_t phase)
    : core_(core),
      parent_(parent),
      last_list_(std::bit_ceil(std::min(static_cast<unsigned>(workers), most_lists)) - 1),
      phase_(phase),
      counter_(phase),
      parked_(std::make_unique<parked_list[]>(std::size_t{last_list_} + 1)) {
  // No task is registered below yet: every child has completed this phase.
  if (children != 0) static_cast<void>(counter_.join(phase + 1, children));
}

void phaser_tree_node::join(std::int64_t s, std::int64_t members) {
  std::lock_guard hold(lock_);
  change c = change::none;
  if (s >= 0) {
    const bool first = counter_.signallers() == 0;
    c = counter_.join(s, members);
    if (first) core_.leaf_activated();
    unarrived_.store(counter_.unarrived(), base::relaxed);
  } else {
    batches_arrivals.store(false, base::relaxed);
  }
  if (members_ == 0) core_.retain();
  members_ += members;
  if (c == change::reopened && parent_ != nullptr) parent_->child_reopened();
}

void phaser_tree_node::take_arrivals(scheduler::worker& w) {
  if (w.arrivals.of != this || !w.arrivals.noted()) return;
  const scheduler::batched_arrivals t = scheduler::take_arrivals(w);
  const auto waits = static_cast<std::int64_t>(t.waiting->size);
  static_cast<void>(counter_.record(counter_.phase(), waits, t.ends));
  members_ -= t.ends;
  counts_.parked += t.waiting->size;
  phase_counts_of(w, core_.kind()).batched_waits += t.waiting->size;
  if (waits != 0)
    add_parked(w, [&](scheduler::batch_block*& to) { scheduler::join_blocks(w, to, t.waiting); });
}

void phaser_tree_node::flush_arrivals(scheduler::worker& w) noexcept {
  lock_.lock();
  const before b = now();
  take_arrivals(w);
  ++counts_.updates;
  conclude(w, b);
}

void phaser_tree_node::update(scheduler::worker& w, std::int64_t s, const events& e) {
  if (w.arrivals.of != this) scheduler::flush_arrivals(w);
  std::unique_lock hold(lock_);
  const before b = now();
  if (e.signals + e.leave != 0) static_cast<void>(counter_.record(s, e.signals, e.leave));
  take_arrivals(w);
  members_ -= e.gone;
  ++counts_.updates;
  static_cast<void>(hold.release());
  conclude(w, b);
}

void phaser_tree_node::update_and_park(scheduler::worker& w, scheduler::fiber* f, std::int64_t p,
                                       const events& e) noexcept {
  lock_.lock();
  const before b = now();
  if (counter_.phase() > p || open_.load(base::relaxed)) {
    lock_.unlock();
    APGAS_ASSERT(e.signals == 0, "a phase ended before a registered task had signalled it");
    scheduler::resume(f);
    return;
  }
  if (e.signals != 0) {
    static_cast<void>(counter_.record(p, e.signals, e.leave));
    take_arrivals(w);
  }
  add_parked(w, [&](scheduler::batch_block*& to) { scheduler::park_in(w, to, this, f); });
  members_ -= e.gone;
  ++counts_.parked;
  ++counts_.updates;
  conclude(w, b);
}

std::vector<scheduler::fiber*> phaser_tree_node::parked_tasks() {
  std::vector<scheduler::fiber*> all;
  const std::lock_guard hold(lock_);
  for (const parked_list* list = used_; list != nullptr; list = list->next_used) {
    for (const scheduler::batch_block* b = list->blocks; b != nullptr; b = b->next) {
      for (std::size_t k = 0; k < b->size; ++k) all.push_back(b->at[k].task);
    }
  }
  return all;
}

bool phaser_tree_node::observe(phase_observer& o, std::int64_t p) noexcept {
  std::lock_guard hold(lock_);
  if (counter_.phase() > p || open_.load(base::relaxed)) return false;
  o.next_ = std::exchange(observers_, &o);
  return true;
}

void phaser_tree_node::resume(scheduler::worker& w, const released& all, bool together) noexcept {
  if (all.tasks != nullptr) {
    scheduler::task_observer* const observer = w.observer.get();
    if (observer != nullptr && core_.is_news(all.phase)) [[unlikely]]
      observer->phase_ends(this, all.tasks->at[0].task->waits_for.load(base::relaxed));
    scheduler::resume_blocks(w, all.tasks, together);
  }
  for (phase_observer* o = all.observers; o != nullptr;) std::exchange(o, o->next_)->on_phase_end();
}

// Calls add(blocks) for the list in which the tasks of `w` are parked. It adds some, and one block
// at most.
template <class Add>
void phaser_tree_node::add_parked(const scheduler::worker& w, Add add) noexcept {
  parked_list& list = parked_[static_cast<unsigned>(w.id) & last_list_];
  const bool first = list.blocks == nullptr;
  if (first) list.next_used = std::exchange(used_, &list);
  add(list.blocks);
  if (first) list.last = list.blocks;
}

// Writes to the last block of each list without reading any, since they lie in the caches of other
// workers. The worker that came last is first: it is least likely to sleep (resume_blocks()).
phaser_tree_node::released phaser_tree_node::take_waiting() noexcept {
  scheduler::batch_block* all = nullptr;
  scheduler::batch_block** end = &all;
  for (parked_list* l = std::exchange(used_, nullptr); l != nullptr; l = l->next_used) {
    *end = std::exchange(l->blocks, nullptr);
    end = &l->last->next;
  }
  return {.tasks = all, .observers = std::exchange(observers_, nullptr), .phase = counter_.phase()};
}

phaser_tree_node::released phaser_tree_node::advance_locked() noexcept {
  static_cast<void>(counter_.advance_phase());
  ++counts_.phases;
  unarrived_.store(counter_.unarrived(), base::relaxed);
  phase_.store(counter_.phase(), base::release);  // P1
  return take_waiting();
}

// Acts on what changed since `b` was taken. Requires: the lock is held. Releases it.
void phaser_tree_node::conclude(scheduler::worker& w, before b) noexcept {
  bool completed = b.unarrived && counter_.unarrived() == 0;
  const bool silent = b.signallers && counter_.signallers() == 0;
  released resumed;
  if (completed && core_.ends_in_one_step()) {  // a clock at one place needs no other lock
    completed = false;
    const std::int64_t phase = counter_.phase();
    resumed = advance_locked();
    if (silent) open_.store(true, base::release);  // P1
    // Signal-only tasks may have run ahead.
    while (!silent && counter_.unarrived() == 0) static_cast<void>(advance_locked());
    if (!silent) {
      phase_counts_of(w, core_.kind()).ended +=
          static_cast<std::uint64_t>(counter_.phase() - phase);
    }
  } else {
    unarrived_.store(counter_.unarrived(), base::relaxed);
  }
  const bool empty = members_ == 0;
  if (silent) core_.leaf_deactivated();
  const bool news = completed || ((silent || empty) && core_.is_replica());
  if (news) core_.retain();
  lock_.unlock();
  resume(w, resumed);
  if (news) {
    core_.completed(w, *this);
    core_.release();
  }
  if (empty) core_.release();
}

void phaser_tree_node::become_child_of(phaser_tree_node& parent) noexcept {
  const std::lock_guard hold(lock_);
  parent_ = &parent;
}

bool phaser_tree_node::child_completed() {
  std::lock_guard hold(lock_);
  return counter_.signal(counter_.phase()) == change::completed;
}

void phaser_tree_node::child_reopened() {
  std::lock_guard hold(lock_);
  if (counter_.rejoin() == change::reopened && parent_ != nullptr) parent_->child_reopened();
}

bool phaser_tree_node::advance_phase(scheduler::worker& w, bool open) noexcept {
  lock_.lock();
  const released resumed = advance_locked();
  if (open) open_.store(true, base::release);  // P1
  const bool complete = counter_.unarrived() == 0;
  lock_.unlock();
  resume(w, resumed, core_.has_many_workers() && &core_.leaf_of(w) != this);
  return complete;
}

void phaser_tree_node::open_and_resume(scheduler::worker& w) noexcept {
  lock_.lock();
  open_.store(true, base::release);  // P1
  const released resumed = take_waiting();
  lock_.unlock();
  resume(w, resumed);
}

phase_uplink::view phaser_tree_node::look() noexcept {
  std::lock_guard hold(lock_);
  return {.phase = counter_.phase(),
          .first = counter_.signallers() != 0 ? counter_.first() : phase_uplink::silent,
          .members = members_ != 0};
}

phaser_tree_node::counts phaser_tree_node::count() noexcept {
  std::lock_guard hold(lock_);
  return counts_;
}

}  // namespace apgas::inline v0::sync

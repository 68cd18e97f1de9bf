// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/batch.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <apgas/base/assert.hpp>

#include "implementation.hpp"

// Batches: filling blocks, resuming them, running them, and reusing their memory.
namespace apgas::inline v0::scheduler {
namespace {

constexpr int free_blocks_max = 64;

void drop_block(worker& w, batch_block* b) noexcept {
  if (w.free_block_count == free_blocks_max) {
    delete b;
    return;
  }
  b->next = w.free_blocks;
  w.free_blocks = b;
  ++w.free_block_count;
}

}  // namespace

void add_free_blocks(worker& w) {
  while (w.free_block_count < reserved_blocks) {
    auto* const b = new batch_block;
    b->next = w.free_blocks;
    w.free_blocks = b;
    ++w.free_block_count;
  }
}

void join_blocks(worker& w, batch_block*& list, batch_block* more) noexcept {
  while (more != nullptr) {
    batch_block* const b = std::exchange(more, more->next);
    if (list != nullptr && list->on == &w) {
      const std::size_t n = std::min(b->size, batch_block::capacity - list->size);
      std::copy_n(b->at + (b->size - n), n, list->at + list->size);
      list->size += n;
      b->size -= n;
    }
    if (b->size == 0) {
      drop_block(w, b);
    } else {
      b->next = list;
      list = b;
    }
  }
}

namespace {

// Tells the observer which tasks become ready.
[[gnu::noinline]] void observe_blocks(task_observer& observer, const batch_block* list) noexcept {
  for (; list != nullptr; list = list->next) {
    for (std::size_t i = 0; i < list->size; ++i) {
      list->at[i].task->cause = observer.makes_ready(*list->at[i].task);
    }
  }
}

[[gnu::always_inline]] inline void push_blocks(worker& w, batch_block* list) noexcept {
  while (list != nullptr) {
    worker& owner = *list->on;
    if (&owner == &w && w.batch.empty() && !w.arrivals.noted()) {
      begin_batch(w, std::exchange(list, list->next));
      continue;
    }
    batch_block* const first = list;
    batch_block* last = list;
    std::size_t n = 1;
    for (; last->next != nullptr && last->next->on == &owner; ++n) last = last->next;
    list = last->next;
    owner.ready.push(first, last, n);
  }
}

}  // namespace

void resume_blocks(worker& w, batch_block* list, bool together) noexcept {
  if (w.batch.empty()) batch_is_over(w);
  auto& s = w.home->internals();
  const auto push = [&w, list, together] {
    together ? list->on->ready.push_to_pass_on(list) : push_blocks(w, list);
  };
  if (s.fenced_or_observed.load(base::relaxed)) [[unlikely]] {
    if (task_observer* const observer = w.observer.get()) observe_blocks(*observer, list);
    push();
    s.notify();
    return;
  }
  push();
  s.notify_usual();
}

void pass_on_blocks(worker& w) noexcept {
  push_blocks(w, w.ready.take_to_pass_on());
  w.home->internals().notify();
}

namespace {

// Lets the worker batch the arrivals of the tasks of its batch, if the source permits it and there
// is memory for it. In an observed run tasks do not switch to each other directly.
void renew_arrivals(worker& w, batch_source* of) noexcept {
  w.arrivals.of = nullptr;
  w.arrivals.ends = 0;
  if (of == nullptr || !of->batches_arrivals.load(base::relaxed)) return;
  if (w.observer.get() != nullptr) return;
  if (w.arrivals.waiting == nullptr) {
    if (w.free_blocks == nullptr) {
      w.free_blocks = new (std::nothrow) batch_block{};
      if (w.free_blocks == nullptr) return;
      w.free_block_count = 1;
    }
    w.arrivals.waiting = take_block(w, of, nullptr);
  }
  w.arrivals.waiting->source = of;
  w.arrivals.of = of;
}

}  // namespace

bool prepare_arrivals(worker& w, batch_source* source) noexcept {
  if (w.arrivals.of != source) {
    flush_arrivals(w);
    renew_arrivals(w, source);
  }
  return w.arrivals.of == source && w.arrivals.waiting->size < batch_block::capacity;
}

void begin_batch(worker& w, batch_block* b) noexcept {
  APGAS_ASSERT(w.batch.empty() && !w.arrivals.noted(),
               "a batch was begun before the last was over");
  w.in_lock_step = true;
  w.may_have_batch.store(true, base::relaxed);
  renew_arrivals(w, b->source);  // before a thief can run the last task of the source
  w.batch.adopt(b->at, b->size);
  drop_block(w, std::exchange(w.batch_memory, b));  // thieves no longer read the old array
}

batched_arrivals take_arrivals(worker& w) noexcept {
  const batched_arrivals taken = w.arrivals;
  if (taken.waiting->size != 0) w.arrivals.waiting = nullptr;
  renew_arrivals(w, taken.of);
  return taken;
}

worker::~worker() {
  delete batch_memory;
  delete arrivals.waiting;
  while (free_blocks != nullptr) delete std::exchange(free_blocks, free_blocks->next);
}

}  // namespace apgas::inline v0::scheduler

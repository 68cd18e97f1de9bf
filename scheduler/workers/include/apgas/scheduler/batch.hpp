// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>

// Tasks that wait for one event together, and go on together: those of a clock. They are kept, by
// worker, in blocks of fibers that are resumed as a whole, so that a task that waits for its phase
// costs a store and a switch of stacks. What the tasks of a batch do next is often to wait again:
// their worker only notes that, and tells the source when the batch is used up.
namespace apgas::inline v0::scheduler {

struct fiber;
struct worker;

// An entry, in the form that deque<> wants.
struct fiber_slot {
  fiber* task;
  const void* stack;  // about where its stack ends, for the caches

  static void add(std::ptrdiff_t) noexcept {}
  static bool same_counter(const fiber_slot&) noexcept { return true; }
  void assign(const fiber_slot& other) noexcept { *this = other; }
};

// What the tasks of a batch wait for.
class batch_source {
 public:
  batch_source() = default;
  batch_source(const batch_source&) = delete;
  batch_source& operator=(const batch_source&) = delete;

  // Takes over the tally of the worker, which is for this source: take_arrivals() empties it.
  // Context: that worker; must not suspend.
  virtual void flush_arrivals(worker& w) noexcept = 0;

  // Whether workers may keep tallies of batches begun from now on.
  base::atomic<bool> batches_arrivals{true};

 protected:
  ~batch_source() = default;
};

// Suspended fibers of one source that were left on one worker.
struct batch_block {
  static constexpr std::size_t capacity = 126;

  batch_block* next;
  batch_source* source;
  worker* on;
  std::size_t size;
  fiber_slot at[capacity];
};
static_assert(sizeof(batch_block) == 2048);

// What the tasks of the batch did that only their worker knows yet.
//
// Invariant: while anything is noted, the worker runs a task that the source still waits for, one
// of a batch of it or a member that was just started, or is about to take the next one. So nothing
// can wait for what was not told. Whoever lets the worker do anything else calls settle().
struct batched_arrivals {
  batch_source* of = nullptr;      // of the batch, if it may have one
  batch_block* waiting = nullptr;  // tasks that wait again; has room for those of a batch
  std::uint32_t ends = 0;          // tasks that wait no more

  bool noted() const noexcept { return of != nullptr && (ends != 0 || waiting->size != 0); }
};

}  // namespace apgas::inline v0::scheduler

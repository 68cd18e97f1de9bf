// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>

// Batches: tasks that wait for the same event and are resumed together, such as the tasks that wait
// for a phase of a clock. Each worker keeps its waiting tasks in blocks of fibers, and a block is
// resumed as a whole. So a task that waits for a phase costs one store and one switch of stacks.
//
// Most tasks of a batch soon wait again, for the next phase. Their worker then only records the
// arrival in its *batched arrivals* and switches to the next task of the batch. When the batch is
// used up, it flushes the arrivals to the source of the batch (the phase counter) in one step.
namespace apgas::inline v0::scheduler {

struct fiber;
struct worker;

// An entry of a block, in the form that deque<> requires.
struct fiber_slot {
  fiber* task;
  const void* stack;  // about where its stack ends, for prefetching

  static void add(std::ptrdiff_t) noexcept {}
  static bool same_counter(const fiber_slot&) noexcept { return true; }
  void assign(const fiber_slot& other) noexcept { *this = other; }
};

// The event that the tasks of a batch wait for. The phase counter of a clock or phaser implements
// it.
class batch_source {
 public:
  batch_source() = default;
  batch_source(const batch_source&) = delete;
  batch_source& operator=(const batch_source&) = delete;

  // Adds the batched arrivals of worker `w`, which are for this source, to its own count. It
  // obtains them with take_arrivals(), which leaves the worker without any.
  // Context: worker `w`; must not suspend.
  virtual void flush_arrivals(worker& w) noexcept = 0;

  // Whether workers may batch the arrivals of batches that begin from now on.
  base::atomic<bool> batches_arrivals{true};

 protected:
  ~batch_source() = default;
};

// A block: up to 126 suspended fibers that wait for the same source and were left on the same
// worker.
struct batch_block {
  static constexpr std::size_t capacity = 126;

  batch_block* next;
  batch_source* source;
  worker* on;
  std::size_t size;
  fiber_slot at[capacity];
};
static_assert(sizeof(batch_block) == 2048);

// The batched arrivals of a worker: what the tasks of its batch did that only the worker knows yet.
//
// Invariant: while there are batched arrivals, the worker runs a task for which the source still
// waits (one of the batch, or a member that was just started), or is about to take the next such
// task. So the event cannot occur without the arrivals, and nothing can wait for an arrival that
// was not flushed. Code that makes the worker do anything else calls flush_arrivals() first.
struct batched_arrivals {
  batch_source* of = nullptr;      // the source of the batch; null: its arrivals are not batched
  batch_block* waiting = nullptr;  // the tasks that wait again; has room for all of the batch
  std::uint32_t ends = 0;          // the number of tasks that have ended

  // Returns whether there is anything to flush.
  bool noted() const noexcept { return of != nullptr && (ends != 0 || waiting->size != 0); }
};

}  // namespace apgas::inline v0::scheduler

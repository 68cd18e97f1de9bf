// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <apgas/scheduler/batch.hpp>
#include <apgas/scheduler/deque.hpp>
#include <apgas/sync/phase_counter.hpp>

#include "machine_model.hpp"

// The state of a simulated clock and of the batches of a worker. The counter of the clock, the
// deque of a batch and the size of a block are those of the runtime. What workers do with them is
// transcribed in scaling_clock.cpp and scaling_batch.cpp.
namespace apgas::test::scaling {

struct fiber;

// An entry of a block (fiber_slot of scheduler/batch.hpp).
struct parked_task {
  fiber* task = nullptr;

  static void add(std::ptrdiff_t) noexcept {}
  static bool same_counter(const parked_task&) noexcept { return true; }
  void assign(const parked_task& other) noexcept { *this = other; }
};

// Tasks that wait for a phase and were left on the same worker (batch_block of
// scheduler/batch.hpp).
struct block {
  static constexpr std::size_t capacity = scheduler::batch_block::capacity;

  block* next = nullptr;
  int on = 0;
  int leaf = 0;  // of the clock
  std::size_t size = 0;
  std::array<parked_task, capacity> at;
};

// What a worker has of batches: the one that it runs, its batched arrivals, and the blocks in its
// ready queue, of which it passes some on.
struct batches {
  scheduler::deque<parked_task> tasks;
  block* memory = nullptr;   // of the batch
  int of = -1;               // the leaf whose arrivals are batched; -1: none
  block* waiting = nullptr;  // the batched arrivals
  std::deque<block*> ready;
  std::deque<block*> to_pass_on;
  bool blocks_first = false;
  bool in_lock_step = false;
  bool may_exist = false;  // worker::may_have_batch
  cycles asked_at = 0;     // by a thief of the batch
  unsigned phases_in_a_row = 0;

  // The tasks that the worker has run in the phase `phase`, and in the one before it.
  std::int64_t phase = 0;
  std::size_t ran = 0;
  std::size_t ran_before = 0;

  bool noted() const { return of >= 0 && waiting->size != 0; }
};

// What a worker wants of a leaf, which it locks for that.
enum class node_event : std::uint8_t {
  flush,   // flush_arrivals(), before it chooses other work
  park,    // update_and_park()
  update,  // update(), by the last task to arrive
  leave,   // update(), by the task that has spawned the others
};

// A phaser tree node with tasks, its lock and its parked tasks.
struct simulated_leaf {
  static constexpr std::size_t most_lists = 64;  // phaser_tree_node.cpp

  sync::phase_counter counter;
  std::array<block*, most_lists> parked{};  // by worker
  std::vector<std::size_t> used;            // lists
  bool locked = false;
  std::deque<int> waits_for_lock;  // workers
  bool unarrived = false;          // the root waits for it
};

// Of the root, only the number of the leaves that it waits for is kept.
struct simulated_clock {
  std::vector<simulated_leaf> leaves;
  bool is_tree = false;  // has grown (phase_core::grow())
  int unarrived = 0;     // leaves

  cycles measured_from = 0;  // the end of the last phase that is not measured
};

}  // namespace apgas::test::scaling

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/worker.hpp>
#include <apgas/sync/phase_counter.hpp>
#include <apgas/sync/phase_uplink.hpp>

// Where tasks wait for a phase: a counter with a lock and the tasks that wait, by worker. A clock
// has one; a phaser may have a tree of them, whose leaves have the tasks.
//
//              written by           read by
//   counter_   lock_ holder         lock_ holder
//   phase_     lock_ holder         anybody
//   due_       lock_ holder         anybody, as a hint
//   parked_    lock_ holder         lock_ holder; the blocks in it are full of tasks that were left
//
// Invariants
//   I1  A task is in parked_ only while phase() is the one it waits for; a roll takes all.
//   I2  The tasks of a batch of this node have not signalled since they were resumed: so a tally
//       (scheduler/batch.hpp) of it cannot keep a phase open longer than they do. Nodes with tasks
//       that only wait have no tallies.
// Pairs
//   P1  What the tasks of a phase did is visible to who sees phase_ beyond it, or open_.
namespace apgas::inline v0::sync {

class phase_core;

class phaser_tree_node final : public scheduler::batch_source {
 public:
  phaser_tree_node(phase_core& core, phaser_tree_node* parent, int workers, std::int64_t children,
             std::int64_t phase = 0);

  phase_core& core() const noexcept { return core_; }

  std::int64_t phase() const noexcept { return phase_.load(base::acquire); }  // P1
  // Whether nobody need wait for phase p any more. Context: any thread.
  bool passed(std::int64_t p) const noexcept {
    return phase_.load(base::acquire) > p || open_.load(base::acquire);  // P1
  }
  // Whether `n` signals now would complete the phase. A hint.
  bool completed_by(std::int64_t n) const noexcept { return unarrived_.load(base::relaxed) == n; }

  // `members` tasks come in, all of them signallers whose next signal is for phase s, or none
  // (s < 0). Context: a task that keeps the phase from completing. Throws: std::bad_alloc.
  void join(std::int64_t s, std::int64_t members);

  // Of the signallers at phase s so many signal, so many leave; so many members go away. The tally
  // of `w` is settled first. Does not touch this object after the last member went. Context: task.
  struct events {
    std::int64_t signals = 0;
    std::int64_t leave = 0;
    std::int64_t gone = 0;
  };
  void update(scheduler::worker& w, std::int64_t s, const events& e);

  // The same for a task that has been left, which is resumed when phase p is over.
  void update_and_park(scheduler::worker& w, scheduler::fiber* f, std::int64_t p,
                       const events& e) noexcept;

  void flush_arrivals(scheduler::worker& w) noexcept override;

  // For the core: children of inner nodes. True: nobody is due here any more.
  bool child_completed();
  bool child_reopened();
  // The next phase begins. `open`: no signaller is left anywhere. True as above.
  bool advance_phase(scheduler::worker& w, bool open) noexcept;
  void open() noexcept { open_.store(true, base::release); }  // P1
  // The same when tasks may be parked.
  void open_and_resume(scheduler::worker& w) noexcept;
  bool is_open() const noexcept { return open_.load(base::acquire); }  // P1
  phaser_tree_node* parent() const noexcept { return parent_; }

  // For the replica and the home of a core that spans places (phase_link.hpp): all at one time.
  phase_uplink::view look() noexcept;

  // What happened so far, for tests: exact when the node is at rest.
  struct counts {
    std::uint64_t phases = 0;
    std::uint64_t parked = 0;   // tasks that were resumed by a roll
    std::uint64_t updates = 0;  // times that the lock was taken to signal, wait or leave
  };
  counts count() noexcept;

 private:
  friend struct lock_test_access;  // the test that unrelated constructs share no lock

  void take_arrivals(scheduler::worker& w);
  struct before {
    bool unarrived;
    bool signallers;
  };
  before now() const noexcept { return {counter_.unarrived() != 0, counter_.signallers() != 0}; }
  void conclude(scheduler::worker& w, before b) noexcept;
  scheduler::batch_block* advance_locked() noexcept;
  scheduler::batch_block* take_parked() noexcept;

  phase_core& core_;
  phaser_tree_node* const parent_;
  const int workers_;
  base::atomic<bool> open_{false};  // no signaller is left: nobody waits any more

  alignas(base::cache_line_bytes) base::spin_lock lock_;
  base::atomic<std::int64_t> phase_{0};
  base::atomic<std::int64_t> unarrived_{0};
  std::int64_t members_ = 0;
  phase_counter counter_;
  std::unique_ptr<scheduler::batch_block*[]> parked_;  // by worker
  counts counts_;
};

}  // namespace apgas::inline v0::sync

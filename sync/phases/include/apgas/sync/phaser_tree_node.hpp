// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/worker.hpp>
#include <apgas/sync/phase_counter.hpp>
#include <apgas/sync/phase_uplink.hpp>

// A phaser tree node is where tasks wait for a phase. It consists of a phase counter, its lock, and
// the waiting tasks, grouped by worker. A clock has one tree node, and becomes a tree if it has
// many tasks and there are many workers. A phaser may have a tree from the beginning. The leaves
// hold the tasks.
//
//               written by          read by
//   counter_    holder of lock_     holder of lock_
//   phase_      holder of lock_     any thread
//   unarrived_  holder of lock_     any thread, as a hint
//   parked_     holder of lock_     holder of lock_; likewise used_ and the batch blocks
//   observers_  holder of lock_     holder of lock_
//   parent_     holder of lock_     those who completed or reopened the tree node under lock_
//
// Invariants
//   I1  A task is in parked_, or an observer in observers_, only while phase() is the phase it
//   waits
//       for. A phase advance takes all of them.
//   I2  The tasks in a batch of this tree node have not signalled since they were resumed. The
//       batched arrivals of a worker (scheduler/batch.hpp) therefore hold a phase open no longer
//       than the batch itself does. A tree node with wait-only tasks does not batch arrivals, since
//       such tasks do not hold a phase open.
//   I3  A tree node that is not complete is unarrived at its parent, whenever its lock is free. The
//       lock of a child is taken before that of its parent, never the other way round.
// Pairs
//   P1  A thread that reads a later phase_, or open_ == true, sees all writes that the tasks made
//       in the completed phase.
namespace apgas::inline v0::sync {

class phase_core;

// Is notified of the end of a phase, in place of a waiting fiber.
class phase_observer {
 public:
  // The phase is over. Context: worker, which holds no lock; must not suspend.
  virtual void on_phase_end() noexcept = 0;

 protected:
  phase_observer() = default;
  ~phase_observer() = default;

 private:
  // NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): phaser_tree_node is final
  friend class phaser_tree_node;
  phase_observer* next_ = nullptr;
};

class phaser_tree_node final : public scheduler::batch_source {
 public:
  // `workers` is the number of workers whose tasks are expected to wait here. Those of any other
  // worker may, too, and of more workers; their blocks are then less full.
  phaser_tree_node(phase_core& core, phaser_tree_node* parent, int workers, std::int64_t children,
                   std::int64_t phase = 0);

  phase_core& core() const noexcept { return core_; }

  std::int64_t phase() const noexcept { return phase_.load(base::acquire); }  // P1
  // Whether a wait for phase p returns at once. Context: any thread.
  bool passed(std::int64_t p) const noexcept {
    return phase_.load(base::acquire) > p || open_.load(base::acquire);  // P1
  }
  // The number of signals that would complete the phase now, and whether `n` would. Hints.
  std::int64_t unarrived() const noexcept { return unarrived_.load(base::relaxed); }
  bool completed_by(std::int64_t n) const noexcept { return unarrived_.load(base::relaxed) == n; }

  // Registers `members` tasks. If s >= 0, all of them are signallers whose next signal is for phase
  // s; otherwise they only wait. Context: a task that holds the phase open. Throws: std::bad_alloc.
  void join(std::int64_t s, std::int64_t members);

  // Of the signallers counted at phase s, `signals` signal it and `leave` deregister; of all
  // registered tasks, `gone` deregister. Flushes the batched arrivals of `w` first. Does not touch
  // this object after the last registered task has left. Context: task.
  struct events {
    std::int64_t signals = 0;
    std::int64_t leave = 0;
    std::int64_t gone = 0;
  };
  void update(scheduler::worker& w, std::int64_t s, const events& e);

  // Does the same on behalf of a suspended task, and parks the task until phase p is over. Without
  // a signal, the batched arrivals have been flushed before.
  void update_and_park(scheduler::worker& w, scheduler::fiber* f, std::int64_t p,
                       const events& e) noexcept;

  // Calls o.on_phase_end() when phase p is over, on behalf of a registered task that waits for it.
  // Returns false if it is over already; then the observer is not called. Context: any thread.
  [[nodiscard]] bool observe(phase_observer& o, std::int64_t p) noexcept;

  void flush_arrivals(scheduler::worker& w) noexcept override;

  // For the core: a child of this inner tree node has completed its phase. Returns true if this
  // tree node thereby completes.
  bool child_completed();
  // For a tree that is made of a single tree node in the middle of a phase, before others know the
  // inner one: adds a child that has not completed the phase; and gives the first tree node its
  // parent.
  void add_unarrived_child() { static_cast<void>(counter_.join(counter_.phase())); }
  void become_child_of(phaser_tree_node& parent) noexcept;
  // Advances to the next phase. `open`: no signaller is left anywhere. Returns true if no signaller
  // is unarrived in the new phase either.
  bool advance_phase(scheduler::worker& w, bool open) noexcept;
  void open() noexcept { open_.store(true, base::release); }  // P1
  // Opens the tree node and resumes the tasks parked in it.
  void open_and_resume(scheduler::worker& w) noexcept;
  bool is_open() const noexcept { return open_.load(base::acquire); }  // P1
  phaser_tree_node* parent() const noexcept { return parent_; }

  // For the two ends of a core that spans places (remote_phases.hpp): a consistent view of the
  // counter.
  phase_uplink::view look() noexcept;

  // Returns the tasks that are parked here, for reports. They stay parked as long as a registered
  // task has not signalled. Throws: std::bad_alloc. Context: any thread.
  std::vector<scheduler::fiber*> parked_tasks();

  // Statistics for tests. They are exact when no task uses the tree node.
  struct counts {
    std::uint64_t phases = 0;
    std::uint64_t parked = 0;   // tasks that waited and were resumed by a phase advance
    std::uint64_t updates = 0;  // how often the lock was taken to signal, wait or leave
  };
  counts count() noexcept;

 private:
  friend struct lock_test_access;  // the test that unrelated constructs share no lock (DP1)

  // A child of this inner tree node has been reopened. The caller holds the lock of the child: a
  // task that finds the child reopened leaves its old leaf (I3).
  void child_reopened();
  void take_arrivals(scheduler::worker& w);
  struct before {
    bool unarrived;
    bool signallers;
  };
  before now() const noexcept { return {counter_.unarrived() != 0, counter_.signallers() != 0}; }
  void conclude(scheduler::worker& w, before b) noexcept;
  // Tasks and observers that have waited for a phase, and are to be resumed without the lock.
  struct released {
    scheduler::batch_block* tasks = nullptr;
    phase_observer* observers = nullptr;
    std::int64_t phase = 0;  // the one that begins
  };
  // `together`: the workers of this leaf pass its tasks on to each other.
  void resume(scheduler::worker& w, const released& all, bool together = false) noexcept;
  // The parked tasks of a worker, or of a few, whose blocks are not shared.
  struct parked_list {
    scheduler::batch_block* blocks = nullptr;
    scheduler::batch_block* last = nullptr;  // of these
    parked_list* next_used = nullptr;
  };
  template <class Add>
  void add_parked(const scheduler::worker& w, Add add) noexcept;
  released advance_locked() noexcept;
  released take_waiting() noexcept;

  phase_core& core_;
  phaser_tree_node* parent_;
  const unsigned last_list_;        // the number of lists in parked_, a power of two, less one
  base::atomic<bool> open_{false};  // no signaller is left, so no task waits any more

  alignas(base::cache_line_bytes) base::spin_lock lock_;
  base::atomic<std::int64_t> phase_{0};
  base::atomic<std::int64_t> unarrived_{0};
  std::int64_t members_ = 0;
  phase_counter counter_;
  std::unique_ptr<parked_list[]> parked_;  // by worker
  parked_list* used_ = nullptr;            // those which tasks were parked in during this phase
  phase_observer* observers_ = nullptr;
  counts counts_;
};

}  // namespace apgas::inline v0::sync

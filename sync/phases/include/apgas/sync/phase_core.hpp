// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/handoff.hpp>
#include <apgas/sync/phase_action.hpp>
#include <apgas/sync/phaser_tree_node.hpp>

// A clock or a phaser: a node, or a tree of them ("Hierarchical phasers", Shirako and Sarkar), and
// what happens between two phases. Lives as long as a task is registered.
//
// A leaf tells its parent when nobody is due at it, the parent its own, and who completes the root
// begins the next phase from the root down. Nodes are locked one at a time: what one tells another
// may be late, which the counters allow (phase_counter.hpp).
//
//              written by                   read by
//   users_     leaves that get their first or lose their last member; who completes a phase
//   active_    leaves that get their first or lose their last signaller
//   elected_   the first next_single of a phase; who completes it
//   actions_   add_action() at its head         who completes a phase, registered tasks
//   unread_    results_lock_ holder             the same; a replica's actions_ change under it, too
//   link_      the first task that takes the core to another place; once
// Pairs
//   P1  An action is complete for who sees it in the list.
//   P2  Everybody is done with the core when the last user deletes it.
//   P3  A link is complete for who sees it.
//   elected_ needs none: who is elected signals through the lock of its node afterwards.
namespace apgas::inline v0::sync {

enum class phase_kind : std::uint8_t { clock, phaser };

// Who will run the closure of a next_single when all have signalled; then single_done() is called.
class single_runner {
 public:
  single_runner() = default;
  single_runner(const single_runner&) = delete;
  single_runner& operator=(const single_runner&) = delete;
  virtual void all_signalled() noexcept = 0;

 protected:
  ~single_runner() = default;
};

// A task that waits for that. In a replica the home may choose another: then until the phase is
// over.
class elected_task final : public single_runner {
 public:
  void all_signalled() noexcept override { decided_.signal(); }
  void not_chosen() noexcept {
    chosen_ = false;
    decided_.signal();
  }
  // Whether it is the one. Context: task, once. May resume elsewhere.
  bool wait() noexcept {
    decided_.wait("next_single");
    return chosen_;
  }

 private:
  handoff decided_;
  bool chosen_ = true;
};

// What ties a core to those of the same clock or phaser at other places (remote_phases.hpp).
class phase_link {
 public:
  phase_link() = default;
  phase_link(const phase_link&) = delete;
  phase_link& operator=(const phase_link&) = delete;
  virtual ~phase_link() = default;
  // At the home: a phase is over. In a replica: its node is complete, or has lost its last
  // signaller or member. Level-triggered: it looks for itself. Context: worker, no lock held; the
  // core is retained.
  virtual void changed(scheduler::worker& w) noexcept = 0;
  // At the home: the actions of phase p have their results, and its tasks still wait.
  virtual void reduced(std::int64_t p) noexcept = 0;
  // In a replica: a task here would run the closure of a next_single; one that the home chose has.
  virtual void would_run_single() noexcept = 0;
  virtual void single_done() noexcept = 0;
};

// What makes a core a replica of one of another place, whose phases it follows.
struct replica_of {
  std::uint64_t number;
  std::int64_t phase;  // those before are over
};

class phase_core {
 public:
  // `tiers` >= 1; an inner node has `degree` children. Retained once. Throws: std::bad_alloc.
  static phase_core& make(phase_kind kind, int home, int workers, int tiers, int degree) {
    return *new phase_core(kind, home, workers, tiers, degree);
  }
  // One node.
  static phase_core& make_replica(phase_kind kind, int workers, const replica_of& of) {
    return *new phase_core(kind, workers, of);
  }
  phase_core(const phase_core&) = delete;
  phase_core& operator=(const phase_core&) = delete;

  phase_kind kind() const noexcept { return kind_; }
  // Of this clock or phaser in the whole program: says its home, too. Never given twice.
  std::uint64_t number() const noexcept { return number_; }
  static int home_of(std::uint64_t number) noexcept {
    return static_cast<int>(number >> home_shift);
  }

  // The leaf of the tasks that a worker runs.
  phaser_tree_node& leaf_of(const scheduler::worker& w) const noexcept {
    if (leaves_ == 1) return *nodes_.back();
    const std::size_t leaf =
        static_cast<std::size_t>(w.id) * leaves_ / static_cast<std::size_t>(workers_);
    return *nodes_[nodes_.size() - leaves_ + leaf];
  }
  bool is_tree() const noexcept { return leaves_ != 1; }
  // The same by number; and the number of one.
  phaser_tree_node& leaf(std::size_t index) const noexcept {
    return *nodes_[nodes_.size() - leaves_ + index];
  }
  std::size_t index_of(const phaser_tree_node& leaf) const noexcept;
  std::size_t leaves() const noexcept { return leaves_; }
  phaser_tree_node& root() const noexcept { return *nodes_.front(); }

  // Whether a phase ends in one step: one node, nothing between phases.
  bool simple() const noexcept { return simple_.load(base::relaxed); }

  // Adds something to be done between phases from now on. Context: a task that keeps the phase from
  // completing. Throws: std::bad_alloc.
  std::uint32_t add_action(std::unique_ptr<phase_action> action);
  // Requires: there is one of that number. Context: a registered task.
  phase_action& action(std::uint32_t index) const noexcept {
    phase_action* a = actions_.load(base::acquire);  // P1
    while (a->index_ != index) a = a->next_;
    return *a;
  }
  // In a replica: the one of that number, or null; and the same, made if need be. The result of
  // phase p for it: kept as it is while no task here has used the accumulator.
  phase_action* find_action(std::uint32_t index) const noexcept;
  phase_action& add_action(std::uint32_t index, std::unique_ptr<phase_action> action);
  void set_result(std::uint32_t index, std::int64_t p, const phase_value& v);
  template <class F>
  void for_each_action(F f) const {
    for (phase_action* a = actions_.load(base::acquire); a != nullptr; a = a->next_) f(*a);  // P1
  }
  // No task that waits here will go back before that phase.
  std::int64_t oldest_phase() noexcept;
  std::int64_t phase() const noexcept { return nodes_.front()->phase(); }

  // Tasks that only wait may lag behind: the phase that one is in, from and to (none: -1).
  void waiter_moved(std::int64_t from, std::int64_t to);

  // Whether `r` is the first in this phase; then it is told when all have signalled, and calls
  // single_done() when its closure has run. Context: a task that has not signalled the phase, or
  // the link for a place that has not.
  bool elect(single_runner& r) noexcept;
  // In a replica: the home has chosen the task that is elected here.
  void chosen_for_single() noexcept { elected_.load(base::relaxed)->all_signalled(); }
  void single_done(scheduler::worker& w) noexcept;

  // Spanning places. The link is made once; it ends with the core.
  bool is_replica() const noexcept { return is_replica_; }
  phase_link* link() const noexcept { return link_.load(base::acquire); }  // P3
  void tie(std::unique_ptr<phase_link> link) noexcept;
  // A phase is over for the link to see from now on. What it reads of the phase afterwards is not
  // older than what it was not told.
  void end_phases_in_steps() noexcept;
  // In a replica: phases before p are over everywhere. `open`: no signaller is left.
  void follow(scheduler::worker& w, std::int64_t p, bool open) noexcept;

  // There never was a signaller: nobody waits.
  void never_signalled() noexcept;

  // For the nodes.
  void retain() noexcept { users_.fetch_add(1, base::relaxed); }
  void release() noexcept;
  // At the end of the program: whoever retains it is gone.
  void abandon() noexcept { delete this; }
  void signallers_came() noexcept { active_.fetch_add(1, base::relaxed); }
  void signallers_went() noexcept { active_.fetch_sub(1, base::relaxed); }
  // Context: whoever changed the node; the core is retained.
  void completed(scheduler::worker& w, phaser_tree_node& node) noexcept;
  void reopened(phaser_tree_node& parent);

  phaser_tree_node::counts count() noexcept;

 private:
  static constexpr int home_shift =
      44;  // a clock every 100 ns for three weeks, at a million places

  phase_core(phase_kind kind, int home, int workers, int tiers, int degree);
  phase_core(phase_kind kind, int workers, const replica_of& of);
  ~phase_core();
  void begin_phases(scheduler::worker& w) noexcept;
  void run_actions(bool last) noexcept;  // those of this phase, or of all that follow
  bool advance_from(scheduler::worker& w, std::size_t node, bool open) noexcept;

  const phase_kind kind_;
  const std::uint64_t number_;
  const bool is_replica_ = false;
  const int workers_;
  const std::size_t degree_;
  std::size_t leaves_ = 1;
  std::vector<std::unique_ptr<phaser_tree_node>> nodes_;  // the root first, then tier by tier
  base::atomic<bool> simple_;
  base::atomic<std::int64_t> users_{1};
  base::atomic<std::int64_t> active_{0};
  base::atomic<single_runner*> elected_{nullptr};  // in a replica, an elected_task
  base::atomic<phase_action*> actions_{nullptr};   // the newest first
  base::atomic<phase_link*> link_{nullptr};
  base::spin_lock results_lock_;
  std::map<std::uint32_t, std::map<std::int64_t, phase_value>> unread_;  // by action and phase
  base::spin_lock waiters_lock_;
  std::map<std::int64_t, std::int64_t> waiters_;  // by phase: how many tasks that only wait
};

}  // namespace apgas::inline v0::sync

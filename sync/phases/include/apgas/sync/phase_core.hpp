// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/handoff.hpp>
#include <apgas/sync/phase_action.hpp>
#include <apgas/sync/phaser_tree_node.hpp>

// The state that the tasks of a clock or phaser share at one place: one phaser tree node, or a tree
// of them (J. Shirako, V. Sarkar: "Hierarchical phasers for scalable synchronization and reductions
// in dynamic parallelism", IPDPS 2010), and the actions that run between two phases. The core
// exists while a task is registered.
//
// A leaf tells its parent when no signaller is unarrived there, and an inner tree node does the
// same. The worker that completes the root begins the next phase, from the root down. Those who
// tell that a tree node is complete hold no lock, so the message may be late; the counters allow
// this (phase_counter.hpp).
//
//              written by                          read by
//   users_     a leaf that gets its first or loses its last registered task; the worker that
//              completes a phase
//   active_    a leaf that gets its first or loses its last signaller
//   elected_   the first next_single of a phase; the worker that completes the phase
//   actions_   add_action(), at the head           the completing worker, registered tasks
//   unread_    holder of results_lock_             the same; at a replica, actions_ as well
//   link_      the first task that takes the core to another place, once
//   grown_     the first task that finds the only tree node crowded, once
// Pairs
//   P1  A thread that finds an action in the list sees the fully constructed action.
//   P2  The thread that releases the last reference, and deletes the core, sees everything the
//       other users did with it.
//   P3  A thread that reads a non-null link_ sees the fully constructed link.
//   P4  A thread that reads a non-null grown_ sees the fully constructed tree.
//   elected_ needs no pair: the elected task signals afterwards, through the lock of its tree node.
namespace apgas::inline v0::sync {

enum class phase_kind : std::uint8_t { clock, phaser };

inline constexpr int flat_up_to_workers = 16;  // up to here one lock is cheaper than a tree
inline constexpr int workers_per_leaf = 8;     // of a tree whose shape nobody has chosen

// What worker `w` counts of the clocks, or of the phasers.
inline scheduler::phase_counts& phase_counts_of(scheduler::worker& w, phase_kind kind) noexcept {
  return kind == phase_kind::clock ? w.count.of_clocks : w.count.of_phasers;
}

// The runner of a next_single closure. When all signallers have signalled, all_signalled() starts
// it. When the closure has returned, single_done() is called on the core.
class next_single_runner {
 public:
  next_single_runner() = default;
  next_single_runner(const next_single_runner&) = delete;
  next_single_runner& operator=(const next_single_runner&) = delete;
  virtual void all_signalled() noexcept = 0;

 protected:
  ~next_single_runner() = default;
};

// The task that is elected to run the closure of a next_single, and waits until it may. At a
// replica the home may choose a task of another place; then this task waits until the phase is
// over.
class elected_task final : public next_single_runner {
 public:
  void all_signalled() noexcept override { decided_.signal(); }
  void not_chosen() noexcept {
    chosen_ = false;
    decided_.signal();
  }
  // Whether this task runs the closure. Context: task, once. May resume on another worker.
  bool wait(const scheduler::call_site& where) noexcept {
    decided_.wait({"phaser::next_single", nullptr, where});
    return chosen_;
  }

 private:
  handoff decided_;
  bool chosen_ = true;
};

// Connects a core to the cores of the same clock or phaser at other places (remote_phases.hpp).
class phase_link {
 public:
  phase_link() = default;
  phase_link(const phase_link&) = delete;
  phase_link& operator=(const phase_link&) = delete;
  virtual ~phase_link() = default;
  // At the home: a phase is over. At a replica: its tree node is complete, or has lost its last
  // signaller or its last registered task. Level-triggered: the link inspects the tree node itself.
  // Context: worker, which holds no lock and has retained the core.
  virtual void changed(scheduler::worker& w) noexcept = 0;
  // At the home: the actions of phase p have their results, and the tasks of p still wait.
  virtual void reduced(std::int64_t p) noexcept = 0;
  // At a replica: task_elected() says that a task here is elected to run the closure of a
  // next_single; single_done() says that the task which the home chose has run it.
  virtual void task_elected() noexcept = 0;
  virtual void single_done() noexcept = 0;
};

// Identifies the clock or phaser whose phases a replica follows.
struct replica_of {
  std::uint64_t number;
  std::int64_t phase;  // all phases before this one are over
};

class phase_core {
 public:
  // A core with a tree of `tiers` >= 1 tiers, in which an inner tree node has `degree` children.
  // The caller holds one reference. Throws: std::bad_alloc.
  static phase_core& make(phase_kind kind, int home, int workers, int tiers, int degree) {
    return *new phase_core(kind, home, workers, tiers, degree);
  }
  // A replica has a single tree node.
  static phase_core& make_replica(phase_kind kind, int workers, const replica_of& of) {
    return *new phase_core(kind, workers, of);
  }
  phase_core(const phase_core&) = delete;
  phase_core& operator=(const phase_core&) = delete;

  // Where the program made the clock or phaser, for reports. Set before it is used.
  void made_at(const scheduler::call_site& where) noexcept { made_ = where; }
  const scheduler::call_site& made() const noexcept { return made_; }

  phase_kind kind() const noexcept { return kind_; }
  // The number of the clock or phaser, unique in the whole program. It contains the home place.
  // Numbers are never reused.
  std::uint64_t number() const noexcept { return number_; }
  static int home_of(std::uint64_t number) noexcept {
    return static_cast<int>(number >> home_shift);
  }

  // The leaf for tasks that the worker runs.
  phaser_tree_node& leaf_of(const scheduler::worker& w) const noexcept {
    return leaf(static_cast<std::size_t>(w.id) * leaves() / static_cast<std::size_t>(workers_));
  }
  bool is_tree() const noexcept { return leaves() != 1; }
  // The leaf with the given index, and the index of a leaf.
  phaser_tree_node& leaf(std::size_t index) const noexcept {
    if (const grown_tree* const t = grown(); t != nullptr && index != 0)
      return *t->leaves[index - 1];
    return *nodes_[nodes_.size() - leaves_ + index];
  }
  std::size_t index_of(const phaser_tree_node& leaf) const noexcept;
  std::size_t leaves() const noexcept {
    const grown_tree* const t = grown();
    return t == nullptr ? leaves_ : 1 + t->leaves.size();
  }
  phaser_tree_node& root() const noexcept {
    const grown_tree* const t = grown();
    return t == nullptr ? *nodes_.front() : *t->root;
  }

  // Makes a tree of a clock that has one tree node, if many of the workers may run its tasks:
  // `unarrived` is the number of signallers for which the tree node waits. Requires: the calling
  // task is registered and has not signalled, so the phase does not end. Throws: std::bad_alloc.
  void grow_if_crowded(std::int64_t unarrived) {
    if (grows_ && unarrived >= crowd && grown() == nullptr) [[unlikely]]
      grow();
  }

  // Whether a phase ends in one step under one lock: the core has one tree node, no action and no
  // link.
  bool ends_in_one_step() const noexcept { return ends_in_one_step_.load(base::relaxed); }
  // Whether nothing but its tasks takes part in the end of a phase: it has neither an action nor a
  // link, and nobody has called next_single.
  bool has_only_tasks() const noexcept { return has_only_tasks_.load(base::relaxed); }
  // Whether so many workers take part that they had better resume the tasks of a leaf together.
  bool has_many_workers() const noexcept { return workers_ > flat_up_to_workers; }

  // Adds an action that runs between phases from the current phase on. Context: a task that holds
  // the current phase open. Throws: std::bad_alloc.
  APGAS_API std::uint32_t add_action(std::unique_ptr<phase_action> action);
  // Requires: an action with this index exists. Context: a registered task.
  phase_action& action(std::uint32_t index) const noexcept {
    phase_action* a = actions_.load(base::acquire);  // P1
    while (a->index_ != index) a = a->next_;
    return *a;
  }
  // At a replica. find_action() returns the action with this index, or null. add_action() returns
  // it too, and first adds `action` if there is none. set_result() hands the action the result of
  // phase p, and keeps the result unread if no task here has used the accumulator yet.
  APGAS_API phase_action* find_action(std::uint32_t index) const noexcept;
  APGAS_API phase_action& add_action(std::uint32_t index, std::unique_ptr<phase_action> action);
  void set_result(std::uint32_t index, std::int64_t p, const phase_value& v);
  template <class F>
  void for_each_action(F f) const {
    for (phase_action* a = actions_.load(base::acquire); a != nullptr; a = a->next_) f(*a);  // P1
  }
  // No task that waits here will return to a phase before this one.
  std::int64_t oldest_phase() noexcept;
  // In a tree that has grown this is the phase of the first leaf, which may be one behind the root.
  std::int64_t phase() const noexcept { return nodes_.front()->phase(); }

  // A wait-only task, which may lag behind, moves from phase `from` to phase `to`. -1 stands for
  // none: the task registers or deregisters.
  void waiter_moved(std::int64_t from, std::int64_t to);

  // Elects `r` if it is the first of this phase to ask, and returns whether it did. When all
  // signallers have signalled, r.all_signalled() is called; single_done() must follow when the
  // closure has returned. Context: a task that has not signalled the phase, or the link on behalf
  // of a place that has not.
  bool elect(next_single_runner& r) noexcept;
  // At a replica: the home has chosen the task that is elected here.
  void chosen_for_single() noexcept { elected_.load(base::relaxed)->all_signalled(); }
  void single_done(scheduler::worker& w) noexcept;

  // Clocks and phasers that span places. The link is set once and destroyed with the core.
  bool is_replica() const noexcept { return is_replica_; }
  phase_link* link() const noexcept { return link_.load(base::acquire); }  // P3
  void tie(std::unique_ptr<phase_link> link) noexcept;
  // Makes the end of every later phase visible to the link. The phase that the link reads after
  // this call is not older than the last phase whose end it was not told of.
  void end_phases_in_steps() noexcept;
  // At a replica: all phases before p are over everywhere. `open`: no signaller is left, so no task
  // waits any more.
  void follow(scheduler::worker& w, std::int64_t p, bool open) noexcept;

  // Whether nobody has told an observer that this phase begins. Context: any thread.
  bool is_news(std::int64_t begun) noexcept {
    return observed_phase_.exchange(begun, base::relaxed) != begun;
  }

  // There never was a signaller, so no task waits.
  void never_signalled() noexcept;

  // For the tree nodes.
  void retain() noexcept { users_.fetch_add(1, base::relaxed); }
  void release() noexcept;
  // At the end of the program, when every holder of a reference is gone.
  void abandon() noexcept { delete this; }
  void leaf_activated() noexcept { active_.fetch_add(1, base::relaxed); }
  void leaf_deactivated() noexcept { active_.fetch_sub(1, base::relaxed); }
  // Context: the worker that changed the tree node; it has retained the core.
  void completed(scheduler::worker& w, phaser_tree_node& node) noexcept;

  phaser_tree_node::counts count() noexcept;

 private:
  // 44 bits number the clocks of a place: one every 100 ns for three weeks. 20 bits name the place.
  static constexpr int home_shift = 44;

  phase_core(phase_kind kind, int home, int workers, int tiers, int degree);
  phase_core(phase_kind kind, int workers, const replica_of& of);
  ~phase_core();
  void begin_phases(scheduler::worker& w) noexcept;

  // The tree over the tree node of a clock that had only this one. It stays the first leaf.
  struct grown_tree {
    std::unique_ptr<phaser_tree_node> root;
    std::vector<std::unique_ptr<phaser_tree_node>> leaves;  // all others
  };
  // With so many tasks a tree pays.
  static constexpr std::int64_t crowd = 32;
  grown_tree* grown() const noexcept { return grown_.load(base::acquire); }  // P4
  void grow();
  void end_phases_under_locks() noexcept;
  template <class F>
  void for_each_node(F f) const;

  // `last`: no signaller is left, so this phase and all later ones have ended.
  void run_actions(bool last) noexcept;
  bool advance_from(scheduler::worker& w, std::size_t node, bool open) noexcept;

  const phase_kind kind_;
  const std::uint64_t number_;
  const bool is_replica_ = false;
  const bool grows_ = false;
  const int workers_;
  const std::size_t degree_;
  std::size_t leaves_ = 1;
  std::vector<std::unique_ptr<phaser_tree_node>> nodes_;  // the root first, then tier by tier
  base::atomic<grown_tree*> grown_{nullptr};
  base::atomic<bool> ends_in_one_step_;
  base::atomic<bool> has_only_tasks_;
  base::atomic<std::int64_t> users_{1};
  base::atomic<std::int64_t> active_{0};
  base::atomic<std::int64_t> observed_phase_{-1};       // used in observed runs only
  base::atomic<next_single_runner*> elected_{nullptr};  // at a replica, an elected_task
  base::atomic<phase_action*> actions_{nullptr};        // newest first
  base::atomic<phase_link*> link_{nullptr};
  base::spin_lock results_lock_;
  // By action index and phase.
  std::map<std::uint32_t, std::map<std::int64_t, phase_value>> unread_;
  base::spin_lock waiters_lock_;
  std::map<std::int64_t, std::int64_t> waiters_;  // the number of wait-only tasks in each phase
  scheduler::call_site made_{};                   // last: what each phase uses stays together
};

}  // namespace apgas::inline v0::sync

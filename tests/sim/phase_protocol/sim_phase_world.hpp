// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates the tasks of one clock or phaser in a single thread. The world plays the roles of
// phaser_tree_node, phase_core and the tasks. What they do under one lock, or by one atomic access,
// or while they hold several locks, is one step, and steps of different tasks are interleaved in
// any order. The counters are those of the product. Where the product uses a hint (unarrived_), or
// a task may run on any worker, the chooser decides.
//
// A checker inspects the world after every step, and the model checks every task that continues.
// Both throw `violation`.

#include <cstdint>
#include <string>
#include <vector>

#include "sim_choice.hpp"
#include "sim_phase_faults.hpp"
#include "sim_phase_model.hpp"
#include "sim_phase_script.hpp"
#include "sim_phase_settings.hpp"

namespace phase_sim {

class world {
 public:
  world(settings s, script& program, sim::choice& chooser);

  // Runs to the end, or to a state that the chooser knows already. Throws violation.
  void run();
  const counters& counted() const { return counted_; }

 private:
  friend class checker;

  struct events {
    std::int64_t signals = 0;
    std::int64_t leave = 0;
    std::int64_t gone = 0;
  };
  struct node {
    node(fault f, int parent_node) : counter(f), parent(parent_node) {}
    tested_counter counter;
    int parent;                 // -1: the root
    std::vector<int> children;  // none: a leaf
    bool open = false;
    bool batches_arrivals = true;
    std::int64_t members = 0;
    std::vector<int> parked;
  };
  enum class stage : std::uint8_t {
    start,      // spawned, has not run yet
    leave_old,  // joined another leaf, still counted at the old one
    join_late,  // the reverse order: a fault
    act,
    grow,     // is about to spawn, and makes a tree of the only tree node first
    publish,  // lets the others find the tree
    tie,      // tells the first leaf its parent
    arrive,   // is at its leaf, and signals there
    look,     // has signalled; checks whether it has to wait
    park,
    parked,
    elected,
    closure,
    single_done,
    after_single,
    ended,
  };
  struct task {
    int name;
    phaser_mode mode;
    int leaf;
    std::int64_t signalled = 0;
    std::int64_t waited = 0;
    int old_leaf = -1;
    int credit = 0;
    int last_credit = 0;
    int step = 0;
    int batch = -1;
    // Of two handoffs to an elected task: its own, and that of the completed phase.
    int arrivals = 0;
    bool registered = true;
    bool noted = false;  // in the batched arrivals of its batch
    stage at = stage::start;
    stage then = stage::act;  // once it has moved to another leaf
    action spawning = {};     // once the tree has grown
    events untold = {};       // events to report when it parks

    bool signals() const { return mode != phaser_mode::wait; }
    bool waits() const { return mode != phaser_mode::signal; }
    bool has_signalled() const { return waits() && signalled != waited; }
  };
  struct batch {
    int leaf;
    std::vector<int> rest;     // not run yet, in reverse order
    std::vector<int> waiting;  // batched arrivals
    std::int64_t ends = 0;
    bool noted() const { return !waiting.empty() || ends != 0; }
  };
  // `reopened` only with a fault: the message is part of the step that reopens a leaf.
  enum class job : std::uint8_t { completed, reopened, begin, advance_phase, flush_arrivals };
  struct frame {
    int node;
    int next = -1;  // the child to advance next; -1: the tree node itself
    bool complete = false;
    bool tell = false;  // a child was complete in its next phase at once
  };
  struct duty {  // the remaining steps of an operation of a task or worker
    job what;
    int node;           // the tree node to tell; for flush_arrivals, the batch
    int then;           // the task that continues afterwards, or -1
    int release = 0;    // references to the core to release afterwards
    bool open = false;  // of a phase advance: no signaller is left
    std::vector<frame> frames;
  };

  // sim_phase_world.cpp: the steps and the tree nodes
  void step();
  void ready(int id) { ready_.push_back(id); }
  node& lock(int n);
  bool passed(const task& t);
  change join(int n, std::int64_t s, std::int64_t members);
  void update(int id, int n, std::int64_t s, const events& e);
  void take_arrivals(node& n, batch& b);
  bool conclude(int n, bool was_unarrived, bool had_signallers, int then);
  void advance_locked(node& n);
  void release_core(int units);

  // sim_phase_tree.cpp: messages between tree nodes
  void tell_reopened(int n);
  bool reopen(int n);
  void on_duty(duty d);
  void on_root_complete(duty d);
  void advance_step(duty d);
  void done(const duty& d);

  // sim_phase_grow.cpp: a tree node of a crowded clock becomes the first leaf of a tree
  bool is_crowded(const task& t);
  void grow(int id);
  void publish();

  // sim_phase_tasks.cpp: actions of tasks
  void run_task(int id);
  void start(int id);
  bool move(int id, stage then);
  void act(int id);
  void spawn(int id, const action& a);
  void signal(int id);
  void advance(int id);
  void arrive_at_leaf(int id);
  void wait(int id);
  void drop(int id);
  void end(int id);
  events signal_events(task& t);

  // sim_phase_resume.cpp: how tasks park and continue
  void park(int id);
  void go_on(int id);
  void release(int id);
  void resume(node& n, std::vector<int> tasks);
  bool may_note(const task& t) const;
  void next_of_batch(int id);
  void advance_single(int id);
  void arrive(int id);

  task& at(int id) { return tasks_[static_cast<std::size_t>(id)]; }
  batch& batch_of(const task& t) { return batches_[static_cast<std::size_t>(t.batch)]; }
  bool broken(fault f) const { return settings_.broken == f; }

  settings settings_;
  script& script_;
  sim::choice& choice_;
  counters counted_;
  phase_model model_;
  std::vector<node> nodes_;  // the root first, then tier by tier, then a tree that has grown
  int root_ = 0;
  std::vector<int> leaves_;
  std::vector<task> tasks_;
  std::vector<batch> batches_;
  std::vector<int> ready_;
  std::vector<duty> duties_;
  bool ends_in_steps_;
  int elected_ = -1;
  std::int64_t active_ = 0;
  std::int64_t users_ = 1;
};

// Checks the whole world. Throws violation.
class checker {
 public:
  static void after_step(const world& w);
  static void at_end(const world& w);        // everything has completed, nothing is left
  static std::string state(const world& w);  // equal for worlds with the same future

 private:
  static void compare_records(const world& w);
  static void recount_leaves(const world& w);
  static void recount_inner(const world& w);
  static bool at_rest(const world& w);
};

// Runs the program. Returns what is wrong, or "".
std::string run(const settings& s, script& program, sim::choice& chooser, counters* out = nullptr);

}  // namespace phase_sim

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks of one clock or phaser in one thread. The world plays the part of phaser_tree_node,
// phase_core and the tasks: what they do under one lock, or by one atomic access, is one step, and
// steps of different tasks come in any order. The counters are the real ones. Where the product has
// a hint (due_) or a worker that may be any, the chooser decides.
//
// A checker looks at the world after every step, and the model at every task that goes on; both
// throw `violation`.

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

  // Runs to the end, or to a state that the chooser knows; throws violation.
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
    node(fault f, int parent_node, int child) : counter(f), parent(parent_node), first(child) {}
    tested_counter counter;
    int parent;  // -1: none
    int first;   // the first child; 0: none
    bool open = false;
    bool tallies = true;
    std::int64_t members = 0;
    std::vector<int> parked;
  };
  enum class stage : std::uint8_t {
    start,      // spawned, has not run
    leave_old,  // joined another leaf, still counted at the old one
    join_late,  // the reverse: a fault
    act,
    look,  // has signalled; looks whether it need wait
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
    int credit_taken = 0;
    int step = 0;
    int batch = -1;
    int arrivals = 0;  // at the handoff of an elected task
    bool registered = true;
    bool noted = false;  // in the tally of its batch
    stage at = stage::start;
    events untold = {};  // parks with these

    bool signals() const { return mode != phaser_mode::wait; }
    bool waits() const { return mode != phaser_mode::signal; }
    bool has_signalled() const { return waits() && signalled != waited; }
  };
  struct batch {
    int leaf;
    std::vector<int> rest;     // in reverse order
    std::vector<int> waiting;  // the tally
    std::int64_t ends = 0;
    bool noted() const { return !waiting.empty() || ends != 0; }
  };
  enum class job : std::uint8_t { completed, reopened, begin, advance_phase, flush_arrivals };
  struct frame {
    int node;
    int next = -1;  // child to roll; -1: the node itself
    bool complete = false;
    bool tell = false;  // a child was complete at once
  };
  struct duty {  // what a task or a worker is in the midst of
    job what;
    int node;           // to be told; settle: the batch
    int then;           // the task that goes on afterwards, or -1
    int release = 0;    // of the core, afterwards
    bool open = false;  // of a roll
    std::vector<frame> frames;
  };

  // sim_phase_world.cpp: steps and nodes
  void step();
  void ready(int id) { ready_.push_back(id); }
  node& lock(int n);
  bool simple() const { return nodes_.size() == 1 && !not_simple_; }
  bool passed(const task& t);
  change join(int n, std::int64_t s, std::int64_t members);
  void update(int id, int n, std::int64_t s, const events& e);
  void take_arrivals(node& n, batch& b);
  bool conclude(int n, bool was_unarrived, bool had_signallers, int then);
  void advance_locked(node& n);
  void release_core(int units);

  // sim_phase_tree.cpp: what nodes tell each other
  void on_duty(duty d);
  void on_root_complete(duty d);
  void roll_step(duty d);
  void done(const duty& d);

  // sim_phase_tasks.cpp: what tasks do
  void run_task(int id);
  void start(int id);
  void act(int id);
  void spawn(int id, const action& a);
  void signal(int id);
  void advance(int id);
  void wait(int id);
  void drop(int id);
  void end(int id);
  events signal_events(task& t);

  // sim_phase_resume.cpp: how tasks park and go on
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
  std::vector<node> nodes_;  // the root first, then tier by tier
  int leaves_ = 1;
  std::vector<task> tasks_;
  std::vector<batch> batches_;
  std::vector<int> ready_;
  std::vector<duty> duties_;
  bool not_simple_;
  int elected_ = -1;
  std::int64_t active_ = 0;
  std::int64_t users_ = 1;
};

// Looks at the whole world; throws violation.
class checker {
 public:
  static void after_step(const world& w);
  static void at_end(const world& w);        // everything completed, nothing left
  static std::string state(const world& w);  // the same for the same future

 private:
  static void compare_records(const world& w);
  static void recount_leaves(const world& w);
  static void recount_inner(const world& w);
  static bool at_rest(const world& w);
};

// Runs the program; returns what is wrong, or "".
std::string run(const settings& s, script& program, sim::choice& chooser, counters* out = nullptr);

}  // namespace phase_sim

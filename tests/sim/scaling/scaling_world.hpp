// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include <apgas/scheduler/deque.hpp>
#include <apgas/scheduler/steal_policy.hpp>
#include <apgas/sync/phase_core.hpp>

#include "idle.hpp"
#include "machine_model.hpp"
#include "scaling_clock.hpp"

// A discrete-event simulation of the workers of one place on a machine with as many cores. The
// deques, the idle list, the order of victims, the pace of steals and the counter of a clock are
// those of the runtime; only the loop around them is transcribed from scheduler/loop/src, and each
// access costs what machine_model.hpp says. One event is one action of a worker: a task or a part
// of it, a look at some victims, a steal. The events happen in the order of their times, so a run
// is a function of its parameters.
namespace apgas::test::scaling {

struct fiber;

// The counter of a finish or of a join.
struct counter {
  std::int64_t pending = 1;
  fiber* waiter = nullptr;
  int last_changed_by = 0;
};

enum class kind : std::uint8_t {
  compute,
  fib,
  range,
  tree_node,
  producer,
  rounds,
  member,  // of a clock
  continuation
};

struct task {
  kind what = kind::compute;
  bool is_branch = false;  // of a fork, not a task of a finish
  std::int32_t depth = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  counter* of = nullptr;

  void add(std::ptrdiff_t n) { of->pending += n; }
  bool same_counter(const task& other) const { return of == other.of; }
  void assign(const task& other) { *this = other; }
};

// A function on the stack of a fiber.
struct frame {
  enum class role : std::uint8_t { body, slot, finish };
  role is = role::body;
  std::uint8_t step = 0;
  task t;
  task* mark = nullptr;  // slot, finish: where its tasks begin. body: the slot of its branch
  std::uint64_t generation = 0;  // of the fiber, when the mark was set
  counter* join = nullptr;       // finish, body: what it waits for
  cycles since = 0;              // body: when it began to wait; slot: when it began
};

struct fiber {
  std::vector<frame> stack;
  std::uint64_t generation = 0;
  task* base = nullptr;
  // Of a drain: whose tasks it runs, from where in the deque on, and their counter.
  fiber* spawner = nullptr;
  task* floor = nullptr;
  counter* finish = nullptr;
  std::uint64_t drained_from = 0;  // the generation when the drain began
  int last_on = -1;                // of a member of a clock: the worker that ran it last
  int leaf = 0;                    // of the clock, at which the member is registered
};

struct entry {
  entry* next = nullptr;
  entry* previous = nullptr;
  bool listed = false;
  int id = 0;
};

struct sim_worker {
  int id = 0;
  scheduler::deque<task> tasks;
  std::vector<task> slots;
  std::deque<fiber*> ready;
  batches batch;
  scheduler::steal_pace pace;
  scheduler::victim_order victims;
  fiber* current = nullptr;
  std::uint64_t choices = 0;
  std::uint64_t direct_switches = 0;
  std::uint64_t drains = 0;
  entry in_list;

  enum class mode : std::uint8_t {
    runs,
    chooses,
    looks,
    steals,
    falls_asleep,
    sleeps,
    waits_for_lock,  // of the clock
    holds_lock,
    resumes  // the tasks of a phase
  };
  mode doing = mode::chooses;
  bool searches = false;  // and counts as such
  bool woken = false;     // for this search
  std::size_t next_victim = 0;
  std::size_t visits = 0;  // of this round
  unsigned rounds = 0;
  cycles give_up = 0;         // 0: not determined yet
  cycles resumed_since = 0;   // how long there have been resumed tasks
  cycles look_at = 0;         // when it looks for resumed tasks again
  bool take_resumed = false;  // in this round
  cycles asked_at = 0;        // as victim
  cycles interrupted = 0;     // what membarriers have cost it since its last event

  node_event event{};         // what it does once it has the lock
  int leaf = 0;               // whose lock it is
  fiber* left = nullptr;      // park: the task that waits
  block* released = nullptr;  // resumes: the blocks that are left
};

// What a program is, and what a run of it has shown.
struct program {
  task root;
  cycles per_task = 70;             // of a tree node, a call of fib, an iteration of a loop
  std::uint64_t grain = 1;          // of a loop
  int branching = 4;                // of a geometric tree: children of an inner node on average
  int depth = 0;                    // of a geometric tree; 0: the tree is binomial
  std::uint64_t root_children = 0;  // of a binomial tree
  std::int64_t phases = 0;          // of a clock; the second half of them is measured
};
struct result {
  cycles time = 0;
  cycles work = 0;  // what the tasks have computed, without the scheduler
  std::uint64_t tasks = 0;
  std::uint64_t steals = 0;
  std::uint64_t stolen = 0;
  std::uint64_t fences = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t wakes = 0;
  std::uint64_t looks = 0;  // at victims
  std::uint64_t suspensions = 0;
  std::uint64_t phases = 0;  // that were measured
  cycles phases_time = 0;    // of these together
  std::uint64_t locks = 0;   // of the clock
  std::uint64_t moved = 0;   // waiting tasks that another worker has taken

  // The share of the time of all workers in which they computed.
  double efficiency(int workers) const {
    return static_cast<double>(work) / (static_cast<double>(time) * workers);
  }
};

// A hash function (splitmix64).
std::uint64_t mixed(std::uint64_t z);
// The number of children of a tree node, from the random number that is its state. The trees are
// those of apps/uts with another hash function.
std::uint64_t children_of(const program& p, const task& t);

class world {
 public:
  world(const machine& m, int workers);

  // Runs the program. At first worker 0 runs and all others sleep.
  result run(const program& p);

 private:
  // The lines of a worker: the owner's and the thieves' part of its deque, the same of its batch,
  // and its ready queue.
  enum own_line : std::uint8_t {
    head_line,
    tail_line,
    batch_head_line,
    batch_tail_line,
    ready_line,
    lines_of_worker
  };
  std::size_t line_of(int w, own_line l) const {
    return static_cast<std::size_t>(w) * lines_of_worker + l;
  }
  std::size_t idle_line() const { return workers_.size() * lines_of_worker; }
  std::size_t wanted_line() const { return idle_line() + 1; }
  // The line of the lock of the root of the clock or of a leaf, which contains the counter too; and
  // that of the lists of a leaf.
  std::size_t root_line() const { return idle_line() + 2; }
  std::size_t lock_line(int leaf) const {
    return root_line() + 1 + 2 * static_cast<std::size_t>(leaf);
  }
  std::size_t lists_line(int leaf) const { return lock_line(leaf) + 1; }
  static std::size_t lines_of(int workers) {
    return static_cast<std::size_t>(workers) * lines_of_worker + 3 +
           2 * static_cast<std::size_t>(leaves_of(workers));
  }
  // How many leaves a clock has that has grown.
  static int leaves_of(int workers) {
    return workers <= sync::flat_up_to_workers ? 1 : (workers - 1) / sync::workers_per_leaf + 1;
  }

  sim_worker& at(int id) { return *workers_[static_cast<std::size_t>(id)]; }
  int size() const { return static_cast<int>(workers_.size()); }

  // Each of these does something for worker w at the time now_ + spent_, and adds its cost.
  void spend(cycles more) { spent_ += more; }
  void reads(const sim_worker& w, std::size_t line) {
    spend(lines_.read(w.id, line, now_, spent_));
  }
  void writes(const sim_worker& w, std::size_t line) {
    spend(lines_.write(w.id, line, now_, spent_));
  }
  void updates(const sim_worker& w, std::size_t line) {
    writes(w, line);
    spend(machine_.locked_update);
  }
  void barrier(sim_worker& w);
  // Changes the idle list by change(). Producers read another line of it, which is written only if
  // what they read changes.
  template <class Change>
  void change_idle(sim_worker& w, Change change) {
    updates(w, idle_line());
    const bool before = idle_.wanted();
    change();
    if (idle_.wanted() != before) writes(w, wanted_line());
  }

  void step(sim_worker& w);

  // scaling_search.cpp
  void choose(sim_worker& w);
  bool choose_own(sim_worker& w);
  void count(sim_worker& w);
  void begin_search(sim_worker& w);
  void begin_round(sim_worker& w);
  void look_for_resumed(sim_worker& w);
  void end_round(sim_worker& w);
  void look(sim_worker& w);
  void steal(sim_worker& w);
  void end_search(sim_worker& w, bool stole);
  void fall_asleep(sim_worker& w);
  void notify(sim_worker& w);
  void wake(entry* e);
  bool any_work();
  static bool has_resumed(const sim_worker& w) {
    return !w.ready.empty() || !w.batch.ready.empty() || !w.batch.to_pass_on.empty() ||
           !w.batch.tasks.empty();
  }
  static bool has_other_work(const sim_worker& w) {
    return w.batch.noted() || !w.tasks.empty() || has_resumed(w);
  }

  // scaling_batch.cpp
  fiber* next_of_batch_fast(sim_worker& w);
  fiber* next_of_batch(sim_worker& w);
  fiber* next_resumed(sim_worker& w);
  void note_arrivals(sim_worker& w, int leaf);
  void begin_batch(sim_worker& w, block* b);
  void join_blocks(sim_worker& w, block*& list, block* more);
  void park_in(sim_worker& w, block*& list, fiber* f);
  void resume_next_blocks(sim_worker& w);
  void pass_on_blocks(sim_worker& w);
  void batch_is_over(sim_worker& w);
  bool steal_resumed(sim_worker& w, sim_worker& victim, cycles begun);
  void take_resumed(sim_worker& w, fiber* f);
  block* new_block(const sim_worker& w);
  void drop_block(block* b) { free_blocks_.push_back(b); }

  // scaling_clock.cpp
  simulated_leaf& leaf(int i) { return clock_.leaves[static_cast<std::size_t>(i)]; }
  int leaf_of(const sim_worker& w) const;
  void join(int leaf);
  void move_to_leaf_of(sim_worker& w, fiber& f);
  void run_member(sim_worker& w);
  void advance(sim_worker& w);
  bool switch_to_next(sim_worker& w);
  bool switch_to_start(sim_worker& w);
  bool starts_next(const sim_worker& w) const;
  void park(sim_worker& w);
  void yield_to_loop(sim_worker& w);
  void lock_leaf(sim_worker& w, node_event e, int leaf);
  void update_leaf(sim_worker& w);
  void take_arrivals(sim_worker& w);
  void conclude(sim_worker& w);
  void end_phase(sim_worker& w);
  void advance_leaf(sim_worker& w, simulated_leaf& l);
  void unlock_leaf(sim_worker& w);
  void after_update(sim_worker& w);
  block*& list_of(const sim_worker& w, int leaf);

  // scaling_tasks.cpp
  void run_fiber(sim_worker& w);
  void run_body(sim_worker& w);
  void run_fork(sim_worker& w, bool splits);
  void run_tree_node(sim_worker& w);
  void run_producer(sim_worker& w);
  void run_range(sim_worker& w);
  void run_round(sim_worker& w);
  void run_drain(sim_worker& w);
  void compute(cycles c);
  void start_slot(sim_worker& w, const task& t);
  void end_frame(sim_worker& w) { w.current->stack.pop_back(); }
  bool spawn(sim_worker& w, const task& t);
  void attend(sim_worker& w, bool drainable);
  bool pop(sim_worker& w, task* s);
  void run_children(sim_worker& w);
  void publish(sim_worker& w);
  void leave(sim_worker& w, counter& c);
  void release(sim_worker& w, counter& c);
  void enter(sim_worker& w, fiber* f);
  void resume(sim_worker& w, fiber* f);
  fiber* new_fiber();
  counter* new_counter();

  const machine machine_;
  const cycles patience_;  // with victims that do not answer
  shared_lines lines_;
  std::vector<std::unique_ptr<sim_worker>> workers_;
  scheduler::idle_list<entry> idle_;
  using event = std::pair<cycles, int>;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  cycles now_ = 0;
  cycles spent_ = 0;
  cycles barrier_ends_ = 0;       // of the one in progress, if any
  cycles next_barrier_ends_ = 0;  // of the one after it; the same if nobody waits for one
  int awake_ = 0;
  bool ended_ = false;
  program program_;
  result result_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<fiber*> free_fibers_;
  std::vector<std::unique_ptr<counter>> counters_;
  std::vector<counter*> free_counters_;
  simulated_clock clock_;
  std::vector<std::unique_ptr<block>> blocks_;
  std::vector<block*> free_blocks_;
};

}  // namespace apgas::test::scaling

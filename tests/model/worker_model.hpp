// SPDX-License-Identifier: Apache-2.0
#pragma once

// A worker reduced to its deque and a counter, for the models of stealing, joining and draining. A
// task is a number. Running it writes a word of data, and the thread that learns that the task has
// ended must be able to read this word without a data race.

#include <apgas/base/atomic.hpp>

#include "model.hpp"

// The deque finds this light fence before that of base. In a fenced scenario, where there is no
// membarrier, it does nothing.
namespace apgas::inline v0::scheduler {
inline bool asymmetric = true;
inline void light_fence() {
  if (asymmetric) base::light_fence();
}
}  // namespace apgas::inline v0::scheduler

#include <apgas/scheduler/deque.hpp>
#include <apgas/scheduler/task_counter.hpp>

namespace apgas::model {

enum class kind { task, join, continuation };

template <class Counter>
struct basic_slot {
  rl::var<int> id;
  rl::var<int> rewritten;  // an observer was told of the task
  Counter* counter = nullptr;
  kind what = kind::task;

  int number() { return id($); }
  void write(int number, Counter* c, kind k = kind::task) {
    id($) = number;
    rewritten($) = 0;
    counter = c;
    what = k;
  }
  bool may_be_stolen() const { return const_cast<basic_slot&>(*this).rewritten($) != 0; }
  // As slot::add: a branch that leaves its deque sets the waiter bit of the join.
  void add(std::ptrdiff_t n) { counter->add(what == kind::join ? n * Counter::branch_count : n); }
  bool same_counter(const basic_slot& other) const { return counter == other.counter; }
  void assign(const basic_slot& other) {
    write(const_cast<basic_slot&>(other).number(), other.counter, other.what);
    rewritten($) = other.may_be_stolen() ? 1 : 0;
  }
};

// For three threads: the owner of a deque, and two thieves, or one thief and another thread.
template <template <class> class Deque, class Counter>
struct worker_model {
  static constexpr int tasks_max = 4;
  using slot = basic_slot<Counter>;

  Deque<slot> deque;
  slot slots[12];
  Counter finish;
  rl::var<int> data[tasks_max];
  int ran[tasks_max] = {};
  int spawned = 0;
  int ended = 0;          // how often a thread learned that the finish has ended
  bool observes = false;  // by the owner: the deque is to be observed from the next push on
  int first_observed = tasks_max;

  void start(bool fenced) {
    scheduler::asymmetric = !fenced;
    deque.reset(slots, 12, fenced);
    for (auto& d : data) d($) = 0;
  }

  // As scheduler::observe() and observe_spawn(). The observer must have been told of the task
  // `first` and all later ones when they are stolen.
  void observe(int first) {
    observes = true;
    first_observed = first;
    deque.raise_attention();
  }
  bool observe_spawn() {
    const auto rewrite = [](slot& s) { s.rewritten($) = 1; };
    if (!deque.observed()) {
      deque.begin_observed();
      deque.rewrite_all(rewrite, 1);
    }
    return deque.rewrite_newest(rewrite);
  }

  slot* spawn(int id) {
    slot* s = deque.head();
    s->write(id, &finish);
    ++spawned;
    const bool asks = deque.push(s);
    if (observes) {
      RL_ASSERT(asks);
      if (observe_spawn()) return s;
    }
    if (asks) {
      deque.answer();
      static_cast<void>(deque.attend(s + 1));
    }
    return s;
  }

  void run(int id) {
    ++ran[id];
    RL_ASSERT(ran[id] == 1);
    data[id]($) = 1;
  }

  // The end of the owner's frame: runs those of its tasks that were not stolen.
  void run_children(slot* base) {
    while (deque.head() - 1 >= base) {
      slot* s = deque.head() - 1;
      if (deque.pop(s)) {
        run(s->number());
      } else if (deque.head() != s) {
        return;
      }
    }
  }

  // Called by the thread that learns that the finish has ended: the data of all tasks must be
  // visible.
  void finish_ended() {
    ++ended;
    RL_ASSERT(ended == 1);
    for (int i = 0; i < spawned; ++i) RL_ASSERT(data[i]($) == 1);
  }
  // Releases a count of the finish.
  void release() {
    if (finish.release()) finish_ended();
  }
  // The frame waits; the thread that releases the last count continues in its place. `attached`:
  // the frame is on the owner.
  void wait(bool attached = true) {
    if (finish.alone()) {
      finish_ended();
    } else {
      if (attached) deque.publish();
      release();
    }
  }

  void thief(manner how = manner::insist) {
    slot stolen[2];
    const std::size_t n = steal(deque, stolen, 2, how);
    for (std::size_t i = 0; i < n; ++i) {
      if (stolen[i].number() >= first_observed) RL_ASSERT(stolen[i].may_be_stolen());
      run_counted(stolen[i]);
    }
  }

  // Runs a task that was counted when it left the deque.
  void run_counted(slot& s) {
    run(s.number());
    release();
  }

  // Runs the tasks that are still in the deque.
  void run_the_rest() {
    slot s;
    while (deque.take_newest(s)) run_counted(s);
  }
  void check_end() {
    for (int i = 0; i < spawned; ++i) RL_ASSERT(ran[i] == 1);
    RL_ASSERT(ended == 1);
    RL_ASSERT(finish.count() == 0 || finish.alone());
  }
};

}  // namespace apgas::model

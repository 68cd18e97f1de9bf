// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scaling_world.hpp"

// What tasks do: spawning, forking, waiting, and the programs themselves, as in
// scheduler/workers/include/apgas/scheduler/worker.hpp, scheduler/loop/src/drain.cpp and
// sync/loops.
namespace apgas::test::scaling {
namespace {

constexpr cycles push_cost = 8;
constexpr cycles pop_cost = 6;
constexpr cycles look_at_slot = 4;  // a line of the worker, one after the other
constexpr cycles wait_step = 100;   // between two looks of a fork at its stolen branch

}  // namespace

fiber* world::new_fiber() {
  if (free_fibers_.empty()) {
    fibers_.push_back(std::make_unique<fiber>());
    return fibers_.back().get();
  }
  fiber* const f = free_fibers_.back();
  free_fibers_.pop_back();
  return f;
}

counter* world::new_counter() {
  if (free_counters_.empty()) {
    counters_.push_back(std::make_unique<counter>());
    return counters_.back().get();
  }
  counter* const c = free_counters_.back();
  free_counters_.pop_back();
  *c = {};
  return c;
}

void world::compute(cycles c) {
  spend(c);
  result_.work += c;
  ++result_.tasks;
}

void world::enter(sim_worker& w, fiber* f) {
  spend(machine_.switch_fiber);
  w.current = f;
  w.doing = sim_worker::mode::runs;
  f->base = w.tasks.head();
}

void world::resume(sim_worker& w, fiber* f) {
  updates(w, line_of(w.id, ready_line));
  w.ready.push_back(f);
  notify(w);
}

// Runs a task that was in a slot, in a fiber of its own.
void world::start_slot(sim_worker& w, const task& t) {
  if (t.what == kind::continuation) {
    auto* const spawner = reinterpret_cast<fiber*>(t.a);
    ++spawner->generation;
    return enter(w, spawner);
  }
  fiber* const f = new_fiber();
  enter(w, f);
  f->stack.push_back({.is = frame::role::slot,
                      .t = t,
                      .mark = f->base,
                      .generation = f->generation,
                      .since = w.pace.awaits_work() ? now_ + spent_ : 0});
  f->stack.push_back({.t = t});
}

bool world::spawn(sim_worker& w, const task& t) {
  *w.tasks.head() = t;
  writes(w, line_of(w.id, head_line));
  spend(push_cost);
  return w.tasks.push(w.tasks.head());
}

void world::attend(sim_worker& w, bool drainable) {
  updates(w, line_of(w.id, head_line));
  w.asked_at = 0;
  w.tasks.answer();
  task* const head = w.tasks.head();
  task* floor = head;
  const std::ptrdiff_t least = scheduler::drain_least(size());
  if (drainable && head - w.tasks.lowest_private() >= least) {
    const counter* const finish = w.current->stack.back().t.of;
    while (floor > w.tasks.lowest_private() && floor[-1].of == finish && !floor[-1].is_branch &&
           floor[-1].what != kind::continuation)
      --floor;
    spend(static_cast<cycles>(head - floor) * look_at_slot);
  }
  const bool many = head - floor >= least;
  if (w.tasks.attend(many ? floor + 2 * least : head + least)) notify(w);
  if (!many) return;
  fiber* const other = new_fiber();
  other->spawner = w.current;
  other->floor = floor;
  other->drained_from = other->generation;
  other->finish = w.current->stack.back().t.of;
  ++w.drains;
  const task continuation{.what = kind::continuation,
                          .a = reinterpret_cast<std::uint64_t>(w.current),
                          .of = w.current->stack.back().t.of};
  updates(w, line_of(w.id, tail_line));
  if (!w.tasks.exchange_below(floor, continuation)) {
    free_fibers_.push_back(other);
    return;
  }
  enter(w, other);
}

bool world::pop(sim_worker& w, task* s) {
  writes(w, line_of(w.id, head_line));
  spend(pop_cost);
  if (s < w.tasks.lowest_private() || w.asked_at != 0) {
    updates(w, line_of(w.id, tail_line));
    w.asked_at = 0;
  }
  return w.tasks.pop(s);
}

void world::publish(sim_worker& w) {
  if (w.tasks.is_published()) return;
  updates(w, line_of(w.id, tail_line));
  w.asked_at = 0;
  w.tasks.publish();
}

// Leaves the current fiber until all other counts of `c` have been released.
void world::leave(sim_worker& w, counter& c) {
  fiber* const f = w.current;
  ++f->generation;
  ++result_.suspensions;
  publish(w);
  w.current = nullptr;
  w.doing = sim_worker::mode::chooses;
  spend(machine_.switch_fiber);
  c.waiter = f;
  if (--c.pending == 0) resume(w, f);
}

// The current fiber has run a task of `c` to its end.
void world::release(sim_worker& w, counter& c) {
  fiber* const f = w.current;
  f->stack.clear();
  f->spawner = nullptr;
  free_fibers_.push_back(f);
  w.current = nullptr;
  w.doing = sim_worker::mode::chooses;
  spend(machine_.transfer[machine_.distance(w.id, c.last_changed_by)] + machine_.locked_update);
  c.last_changed_by = w.id;
  if (--c.pending != 0) return;
  if ((++w.direct_switches & 31U) == 0) {
    resume(w, c.waiter);
  } else {
    enter(w, c.waiter);
  }
}

void world::run_fiber(sim_worker& w) {
  fiber& f = *w.current;
  if (f.spawner != nullptr && f.stack.empty()) return run_drain(w);
  switch (f.stack.back().is) {
    case frame::role::body:
      return run_body(w);
    case frame::role::slot:
    case frame::role::finish:
      return run_children(w);
  }
}

// The drain fiber takes the next task, or returns to the spawner. If it was left meanwhile, it only
// runs what the last task has spawned.
void world::run_drain(sim_worker& w) {
  fiber& f = *w.current;
  task* const s = w.tasks.head() - 1;
  const bool attached = f.generation == f.drained_from;
  if (!attached && s < f.base) return release(w, *f.finish);
  if (!pop(w, s)) return release(w, *f.finish);
  if (attached && s == f.floor) {
    fiber* const spawner = f.spawner;
    f.spawner = nullptr;
    free_fibers_.push_back(&f);
    return enter(w, spawner);
  }
  f.stack.push_back({.t = *s});
}

// Pops the tasks of the topmost frame; if there is none left, the frame ends or waits.
void world::run_children(sim_worker& w) {
  fiber& f = *w.current;
  frame& top = f.stack.back();
  task* const from = f.generation == top.generation ? top.mark : f.base;
  task* const s = w.tasks.head() - 1;
  const bool runs_children = top.is == frame::role::finish || !top.t.is_branch;
  if (runs_children && s >= from) {
    if (pop(w, s)) f.stack.push_back({.t = *s});
    return;
  }
  if (top.is == frame::role::slot) {
    if (top.t.is_branch) publish(w);
    if (top.since != 0 && f.generation == top.generation) w.pace.worked(now_ + spent_ - top.since);
    return release(w, *top.t.of);
  }
  if (top.join->pending == 1 || top.step == 1) {
    ended_ = f.stack.size() == 1;
    free_counters_.push_back(top.join);
    return end_frame(w);
  }
  top.step = 1;
  leave(w, *top.join);
}

void world::run_body(sim_worker& w) {
  frame& top = w.current->stack.back();
  switch (top.t.what) {
    case kind::compute:
      compute(program_.per_task);
      return end_frame(w);
    case kind::fib:
      if (top.step == 0) {
        compute(program_.per_task);
        if (top.t.a < 2) return end_frame(w);
      }
      return run_fork(w, true);
    case kind::range:
      return run_range(w);
    case kind::tree_node:
      return run_tree_node(w);
    case kind::producer:
      return run_producer(w);
    case kind::rounds:
      return run_round(w);
    case kind::member:
      return run_member(w);
    case kind::continuation:
      break;
  }
}

void world::run_tree_node(sim_worker& w) {
  const task t = w.current->stack.back().t;
  const std::uint64_t n = children_of(program_, t);
  if (n == 0) {
    compute(program_.per_task);
    return end_frame(w);
  }
  // One child for each step, because a root may have thousands, and thieves must see them.
  frame& top = w.current->stack.back();
  if (top.step == 0) {
    top.step = 1;
    top.since = 0;
    compute(program_.per_task);
  }
  bool asked = false;
  for (int i = 0; i < 8 && top.since < n && !asked; ++i) {
    const std::uint64_t k = top.since++;
    asked = spawn(w, {.what = kind::tree_node,
                      .depth = t.depth + 1,
                      .a = mixed(t.a ^ mixed(k + 1)),
                      .of = t.of});
  }
  const bool done = top.since == n;
  if (asked) {
    if (done) {
      // The frame must stay while the task is drained, since attend() looks at it.
      top.step = 2;
    }
    attend(w, true);
    if (done && w.current->stack.size() > 1 && w.current->stack.back().step == 2) end_frame(w);
    return;
  }
  if (done) end_frame(w);
}

void world::run_producer(sim_worker& w) {
  const bool members = program_.phases != 0;
  frame& top = w.current->stack.back();
  bool asked = false;
  for (int i = 0; i < 4 && top.t.a != 0 && !asked; ++i) {
    --top.t.a;
    if (members) join(0);
    asked = spawn(w, {.what = members ? kind::member : kind::compute, .of = top.t.of});
  }
  if (asked) return attend(w, true);
  if (top.t.a != 0) return;
  end_frame(w);
  if (members) lock_leaf(w, node_event::leave, 0);
}

// A round is a finish over `b` tasks.
void world::run_round(sim_worker& w) {
  fiber& f = *w.current;
  frame& top = f.stack.back();
  if (top.t.a == 0) return end_frame(w);
  --top.t.a;
  const std::uint64_t tasks = top.t.b;
  counter* const join = new_counter();
  f.stack.push_back({.is = frame::role::finish,
                     .t = {},
                     .mark = w.tasks.head(),
                     .generation = f.generation,
                     .join = join});
  f.stack.push_back({.t = {.what = kind::producer, .a = tasks, .of = join}});
}

// A forall over [a, b): splits the range while the deque is empty, and otherwise runs a chunk.
void world::run_range(sim_worker& w) {
  frame& top = w.current->stack.back();
  if (top.step != 0) return run_fork(w, false);
  const std::uint64_t n = top.t.b - top.t.a;
  if (n > program_.grain) {
    reads(w, line_of(w.id, tail_line));
    if (w.asked_at != 0) updates(w, line_of(w.id, tail_line));
    w.asked_at = 0;
    w.tasks.answer();
    if (w.tasks.empty()) return run_fork(w, false);
  }
  const std::uint64_t chunk = std::min(n, program_.grain);
  compute(program_.per_task * chunk);
  top.t.a += chunk;
  if (top.t.a == top.t.b) end_frame(w);
}

// A fork of two branches. `halves_fib`: of a call of fib; otherwise of a range.
void world::run_fork(sim_worker& w, bool halves_fib) {
  fiber& f = *w.current;
  frame& top = f.stack.back();
  switch (top.step) {
    case 0: {
      top.join = new_counter();
      top.step = 1;
      task other = top.t;
      task kept = top.t;
      if (halves_fib) {
        other.a -= 2;
        kept.a -= 1;
      } else {
        const std::uint64_t middle = top.t.a + (top.t.b - top.t.a) / 2;
        kept.b = middle;
        other.a = middle;
      }
      other.is_branch = true;
      other.of = top.join;
      top.mark = w.tasks.head();
      top.generation = f.generation;
      const bool asked = spawn(w, other);
      f.stack.push_back({.t = kept});
      if (!halves_fib) {
        updates(w, line_of(w.id, tail_line));
        w.tasks.grant();
        w.asked_at = 0;
      }
      if (asked) attend(w, false);
      return;
    }
    case 1:  // the kept branch has ended
      if (top.generation == f.generation && pop(w, top.mark)) {
        const task other = *top.mark;
        free_counters_.push_back(top.join);
        top.step = 3;
        f.stack.push_back({.t = other});
        f.stack.back().t.is_branch = false;
        return;
      }
      top.since = now_ + spent_;
      top.step = 2;
      return;
    case 2:  // a thief has the other one
      if (top.join->pending == 1) {
        free_counters_.push_back(top.join);
        return end_frame(w);
      }
      if (!has_other_work(w) && now_ - top.since < scheduler::end_is_near_cycles)
        return spend(wait_step);
      top.step = 4;
      return leave(w, *top.join);
    case 4:
      free_counters_.push_back(top.join);
      [[fallthrough]];
    default:
      end_frame(w);
  }
}

}  // namespace apgas::test::scaling

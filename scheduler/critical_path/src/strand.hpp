// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "path.hpp"

// Work and span of a run, computed while it runs. The functions below say what a run did: which
// task ran when, which spawned which, and what waited for what. They read no clock and take no
// lock, so that tests can invent runs whose span is known (tests/unit/scheduler/critical_path).
//
// Each task is a strand. It carries the longest path that leads to what it does now, and the
// longest one in which scheduling takes time, too:
//
//   spawn     the child begins with the path of its parent
//   run       the path grows by the time that the task runs; time in which it waits does not count
//   end       the path is offered to the finish (or join) of the task
//   join      the task that waited goes on with the longest of its own path and those offered
//   signal, receive
//             the same for whatever else a task waits for: an event is a future, a phase of a
//             clock, or the task that has resumed another one
//
// The work is the sum of the times that all tasks run. It is added up for each site, and for each
// finish, so that the parallelism of a single finish is known: the work of its tasks, divided by
// how much longer the critical path is at its end than at its begin.
namespace apgas::inline v0::scheduler {

// What a task waits for, with the longest path that leads there. Context: the caller serialises.
struct span_event {
  critical_paths latest;
};

// A finish, or the join of a fork_join, into which a task has spawned others.
struct span_scope {
  critical_paths latest;       // of the tasks that have ended
  span_ticks work = 0;         // of these tasks, with all that they have waited for
  span_ticks begun_at = 0;     // length of the path of the owner at its first spawn
  span_ticks others_then = 0;  // which part of it was in finishes
  span_ticks owner_then = 0;   // work of the owner until then
};

// The costs of scheduling that are assumed on a burdened path, in ticks. They belong to the site of
// the task that is spawned, resumed, or sends the frame.
struct span_costs {
  span_ticks spawn = 0;    // a child is taken by another worker
  span_ticks resume = 0;   // a task that waited is resumed
  span_ticks message = 0;  // a frame is on its way to another place
};
inline constexpr span_costs no_span_costs{};

class strand {
 public:
  strand() = default;
  explicit strand(site_number site) noexcept : site_(site) {}

  site_number site() const noexcept { return site_; }
  void set_site(site_number site) noexcept { site_ = site; }
  bool runs() const noexcept { return runs_; }
  const path& critical_path() const noexcept { return paths_.longest; }
  const critical_paths& paths() const noexcept { return paths_; }
  span_ticks own_work() const noexcept { return own_; }
  // The work of this task and of all finishes and joins that it has waited for.
  span_ticks all_work() const noexcept { return own_ + joined_; }

  // The task begins or goes on, or it stops because it waits, ends, or another one runs on top of
  // it. It has run `ticks` since it last began or went on.
  void run() noexcept { runs_ = true; }
  void pause(span_ticks ticks);

  // This task, which was paused for the moment, begins a finish with its first spawn into it. If a
  // task that has arrived from another place does so, the finish seems to begin there.
  void open(span_scope& scope) const noexcept;
  // Returns the child that this task spawns at `site`.
  strand spawn(site_number site, const span_costs& costs) const;
  // The task has ended.
  void end(span_scope& scope) const;
  // The task, which has opened the finish at `site`, has waited for its end. Returns how much
  // longer the critical path is than at the begin.
  span_ticks join(span_scope& scope, site_number site, const span_costs& costs);
  // The work of a scope and of its owner since open(), to be called before join().
  span_ticks work_of(const span_scope& scope) const noexcept;

  void signal(span_event& event) const { event.latest.join(paths_); }
  void receive(const span_event& event, const span_costs& costs);

 private:
  void join(const critical_paths& other, const span_costs& costs);

  site_number site_ = 0;
  bool runs_ = false;
  critical_paths paths_;
  span_ticks own_ = 0;
  span_ticks joined_ = 0;
};

}  // namespace apgas::inline v0::scheduler

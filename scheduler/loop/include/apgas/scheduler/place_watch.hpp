// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/object_names.hpp>
#include <apgas/scheduler/place_waits.hpp>
#include <apgas/scheduler/scheduler.hpp>

// The tasks of a place as a report over all places sees them. module launch has one for its place.
namespace apgas::inline v0::scheduler {

class place_watch {
 public:
  // With `takes_over`, the watchdog of the scheduler, if it has one, no longer reports a standstill
  // itself and does not answer SIGQUIT; the owner of this object does.
  place_watch(scheduler& of, bool takes_over);
  place_watch(const place_watch&) = delete;
  place_watch& operator=(const place_watch&) = delete;

  struct state {
    // All workers sleep, so no task runs.
    bool asleep = false;
    // Also, no task can become ready unless a frame arrives: none is ready, no timer is set, no
    // call of `blocking` is running, no message is half sent, and no other thread of the process
    // could make a task ready.
    bool still = false;
    // Changes when a task has suspended or a thread outside the workers has made one ready. If a
    // task has run for another reason, a frame was received.
    std::uint64_t activity = 0;
    std::size_t timers = 0;  // that are set
    bool blocking = false;   // a call of `blocking` is running
    bool threads = false;    // threads outside the library were looked for, and there are some
  };
  // Looks at the place. If all workers sleep, calls `inside` while no thread receives frames and
  // none of the workers can wake; for a poll of the network that has begun it waits up to 100 ms.
  // `threads`: also count the threads of the process, which reads a folder of /proc; without that a
  // place is never still. Context: a thread that is no worker. Throws: what `inside` throws.
  state look(bool threads, const std::function<void()>& inside) const;

  // To be called before look number i, from 0, of a series that ends when all workers sleep. The
  // frame that asks has woken a worker, which finds nothing and sleeps again; on processors with
  // many other threads that takes a while. So it waits for i ms, up to 20, and returns true; false
  // if it is no use to look again: after 210 ms if a worker runs a task, otherwise after a second.
  // Context: a thread that is no worker. Throws: std::bad_alloc.
  bool wait_for_sleep(int i) const;

  // What the tasks wait for, and which ones run. `own_timers`: how many timers of the runtime are
  // set, which make no task of the program ready. `purpose`: if edges are wanted, the graph is also
  // made while tasks run, with these tasks; those that become ready meanwhile go on afterwards.
  // Throws: std::bad_alloc. Context: a thread that is no worker.
  place_waits explain(const object_names* names, std::size_t own_timers,
                      graph_purpose purpose = graph_purpose::cycle) const;

  // The tasks that have been in the same wait for at least `patience`, as a graph whose edges are
  // true although other tasks run; with a cycle, if there is one. Only what may be on a cycle is
  // returned. Nothing is if the place has no watchdog. Throws: std::bad_alloc. Context: a thread
  // that is no worker. Cost: tasks that become ready meanwhile go on afterwards.
  place_waits explain_long_waits(const object_names* names,
                                 std::chrono::milliseconds patience) const;

  // How often the process received SIGQUIT as a request for a report; and the value of that up to
  // which the watchdog of the scheduler has answered. With `takes_over`, the owner of this object
  // answers what came later: if a signal comes at that moment, perhaps both do.
  static unsigned quit_signals() noexcept;
  unsigned answered_signals() const noexcept;

 private:
  std::vector<std::string> running_tasks() const;

  scheduler::implementation& watched_;
};

}  // namespace apgas::inline v0::scheduler

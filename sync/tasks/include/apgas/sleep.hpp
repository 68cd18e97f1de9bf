// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <apgas/sync/deadline.hpp>
#include <apgas/sync/task.hpp>

// Doing nothing for a time; the worker does other things meanwhile.
namespace apgas::inline v0 {

namespace sync {

// Suspends the task until `when`; yields if that is over. Context: task that may suspend.
void sleep_task(scheduler::fiber& self, deadline when);

}  // namespace sync

// Suspends the task for at least `d`; without end if that is beyond a century. Zero or less yields.
// Late by as long as all workers are busy with tasks that do not let go.
//
// Throws: illegal_operation outside a task and inside an atomic section.
// Context: task. May suspend and resume elsewhere.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& d) {
  scheduler::fiber& self = sync::suspendable_fiber("sleep_for");
  sync::sleep_task(self, sync::deadline_in(d));
}

// The same until `Clock` says `t`; a clock that is set meanwhile is asked again at the end.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& t) {
  scheduler::fiber& self = sync::suspendable_fiber("sleep_until");
  do {
    const auto now = Clock::now();
    sync::sleep_task(self, t > now ? sync::deadline_in(t - now) : sync::deadline::min());
  } while (Clock::now() < t);
}

}  // namespace apgas::inline v0

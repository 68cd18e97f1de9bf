// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <apgas/base/api.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/task.hpp>

// Suspending a task for a time, while its worker runs other tasks.
namespace apgas::inline v0 {

namespace sync {

// Suspends the task until `when`, or yields if that time has passed. Context: task that may
// suspend; may resume on another worker.
APGAS_API void sleep_task(scheduler::fiber& self, deadline when,
                          const scheduler::wait_record& waits_for);

}  // namespace sync

// Suspends the task for at least the duration d. A duration of zero or less yields instead; one of
// more than a century means for ever. The task wakes late if all workers are busy with tasks that
// do not suspend. Unlike std::this_thread::sleep_for, it does not block the worker.
//
//   apgas::sleep_for(1ms);
//
// Throws: illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: a few short locks of the scheduler, to set the timer and when it has expired.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& d,
               scheduler::call_site where = scheduler::call_site::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("sleep_for");
  sync::sleep_task(self, sync::deadline_in(d), {"sleep_for", nullptr, where});
}

// Suspends the task at least until `Clock` shows the time t. If the clock is set back meanwhile,
// the task sleeps again for the rest.
//
//   auto next = std::chrono::steady_clock::now();
//   for (int i = 0; i < 3; ++i) {
//     work(i);
//     apgas::sleep_until(next += 1ms);  // once in each millisecond
//   }
//
// Throws, Context, Cost: as sleep_for.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& t,
                 scheduler::call_site where = scheduler::call_site::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("sleep_until");
  do {
    const auto now = Clock::now();
    sync::sleep_task(self, t > now ? sync::deadline_in(t - now) : sync::deadline::min(),
                     {"sleep_until", nullptr, where});
  } while (Clock::now() < t);
}

}  // namespace apgas::inline v0

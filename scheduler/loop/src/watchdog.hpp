// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <apgas/scheduler/job_report.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "parker.hpp"
#include "suspended_tasks.hpp"

// The watchdog: if no task has run for a given time while some tasks wait, it reports what they
// wait for, so that a program that hangs explains itself. It is a thread of its own, which exists
// only if it is requested (APGAS_WATCHDOG, APGAS_DEADLOCK).
//
// In a job with several places it leaves all that to a thread of module launch, which looks at all
// places together (place_watch.hpp), and reports only tasks that run for long.
//
// It reads the fibers while it holds the lock of the idle list and all workers are in that list. No
// worker can be removed from the list in this time, so no fiber is entered or left (I3 of
// idle.hpp). The poller, the fallback poller and the progress thread still receive messages, which
// may let a phase advance or make a task ready: a report may be out of date when it is printed.
//
// A *deadlock* is more than a standstill: no task of the program can ever run again. That is so if
// all workers sleep, no timer is set, no call of `blocking` is running, and the process has no
// thread that could make a task ready (own_threads.hpp). It is decided for programs of one place,
// and only if it holds in several looks: a thread that began or ended a moment ago may be missing
// in the list of the system, and after SIGCONT time has passed in which no worker could run. For
// several places docs/protocols/deadlock.md describes how it is decided.
//
// While tasks run, the watchdog searches for others that wait for each other, among those that have
// been in the same wait for the patience (suspended_tasks::explain_long_waits).
namespace apgas::inline v0::scheduler {

class watchdog {
 public:
  // Starts the thread. It calls config::watchdog_report, once for each standstill.
  explicit watchdog(scheduler::implementation& watched);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  // Ends the thread. To be called before the workers stop.
  void stop() noexcept;

  // From now on reports only tasks that run for long; place_watch does the rest. Context: any
  // thread.
  void leave_reports() noexcept { leaves_reports_.store(true, base::relaxed); }

  // Whether it notes every second since when tasks have been waiting.
  bool observes() const noexcept { return observes_; }

  // A line for each worker that runs tasks. Throws: std::bad_alloc. Context: any thread.
  std::vector<std::string> running_tasks();

  // For a seeded schedule. look_for_deadlock() looks once, as if the patience had passed, from a
  // worker of the only place that has announced its sleep, also for tasks that wait for each other
  // while others can run. is_stuck() returns whether no task can
  // run again unless another place makes it ready. report_stuck() reports a deadlock: with what
  // `explain` returns, or, if that is null, with what waits here. Context: while no other thread
  // takes its turn.
  void look_for_deadlock() noexcept;
  bool is_stuck() noexcept;
  struct explained {
    std::string text;
    std::string_view remedy;  // job_report::remedy()
  };
  void report_stuck(const std::function<explained()>& explain) noexcept;

  suspended_tasks tasks;

  // See place_watch. Context: any thread.
  unsigned answered_signals() const noexcept { return signals_.load(base::relaxed); }

 private:
  using time = std::chrono::steady_clock::time_point;

  // What a worker did when the watchdog last looked. The state is equal as long as it runs a task.
  struct observed_worker {
    worker_state last;
    std::uint64_t suspensions = 0;
    bool sleeps = false;
    time since{};
    bool reported = false;
  };

  // A time in which all workers sleep and none has run.
  struct standstill {
    std::uint64_t activity;  // when it began
    time since;
    bool reported = false;
    bool deadlock_reported = false;
    int deadlocked_looks = 0;  // so many looks in a row have found a deadlock,
    time deadlocked_since{};   // the first of them at this time
  };

  void watch();
  template <class Look>
  void without_exceptions(Look look) noexcept;
  void look_at_tasks();
  void look_at_long_waits();
  std::optional<job_report::endless_wait> find_endless_wait(std::chrono::milliseconds patience);
  void look_at_workers();
  void answer_signal();
  bool may_be_deadlock() const noexcept;
  bool is_deadlock() const;
  void conclude(explained report);
  void end_deadlock(std::string report);
  explained explain_standstill(const std::string& begin);
  std::string running_tasks(std::size_t worker,
                            bool with_position) const;  // requires workers_lock_

  scheduler::implementation& watched_;
  const std::chrono::milliseconds patience_;
  const bool observes_;
  std::optional<standstill> standstill_;
  // The value of quit_signals() up to which signals have been answered. Written by the thread.
  base::atomic<unsigned> signals_;
  time search_again_{};       // for tasks that wait for each other while others run
  std::string endless_wait_;  // the last one that was reported
  base::atomic<bool> leaves_reports_{false};
  std::mutex workers_lock_;
  std::vector<observed_worker> workers_;
  parker sleep_;
  std::thread thread_;
};

// Changes when a task has suspended, or a thread that is not a worker has made one ready. Context:
// any thread.
std::uint64_t activity_of(const scheduler::implementation& s) noexcept;
// Whether, if the process has no other threads and no message arrives, no task can become ready.
// Requires: all workers sleep, and none can be woken.
bool nothing_can_become_ready(scheduler::implementation& s);
// Why, although all workers sleep, a task may yet become ready, as a line; empty if only a message
// from another place could make one ready. `own_timers` timers do not count.
// Throws: std::bad_alloc. Context: any thread.
std::string reason_to_wait(scheduler::implementation& s, std::size_t own_timers = 0);

}  // namespace apgas::inline v0::scheduler

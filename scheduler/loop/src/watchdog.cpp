// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/own_threads.hpp>

#include "implementation.hpp"
#include "quit_signal.hpp"
#include "watchdog.hpp"

namespace apgas::inline v0::scheduler {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds deadlock_patience = 1s;  // if no other is given
constexpr std::chrono::milliseconds longest_pause = 100ms;   // so that SIGQUIT is answered soon
constexpr int patiences_of_a_task = 10;  // so long a task runs until the watchdog says so

double seconds(clock::duration d) { return std::chrono::duration<double>(d).count(); }

std::string tasks_wait(std::uint64_t n) {
  return n == 1 ? "1 task waits" : fmt::format("{} tasks wait", n);
}

}  // namespace

watchdog::watchdog(scheduler::implementation& watched)
    : watched_(watched),
      patience_(watched.settings.watchdog_patience.count() != 0 ? watched.settings.watchdog_patience
                                                                : deadlock_patience),
      workers_(watched.workers.size()),
      thread_([this] { watch(); }) {}

watchdog::~watchdog() {
  sleep_.unpark();
  thread_.join();
}

void watchdog::watch() {
  const base::own_thread counts;
  if (watched_.settings.report_on_signal) handle_quit_signal();
  signals_ = quit_signals();
  while (!sleep_.park(std::min<std::chrono::nanoseconds>(patience_ / 4, longest_pause))) {
    look_at_tasks();
    look_at_workers();
    if (watched_.settings.report_on_signal && std::exchange(signals_, quit_signals()) != signals_)
      answer_signal();
  }
}

// Reports a standstill when it has lasted for `patience_`.
void watchdog::look_at_tasks() {
  const config& settings = watched_.settings;
  std::string report;
  bool deadlock = false;
  const bool waits_for_time = watched_.timed.until_next() != std::chrono::nanoseconds::max();
  const bool all_asleep = watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
    std::uint64_t sleeps = 0;
    for (const auto& w : watched_.workers) sleeps += w->count.sleeps;
    if (std::exchange(seen_, sleeps) != sleeps || waits_for_time) since_ = clock::now();
    if (since_ == time::max() || clock::now() - since_ < patience_) return;
    since_ = time::max();  // do not report again until a task has run
    deadlock = settings.on_deadlock != deadlock_action::none && is_deadlock();
    if (!deadlock && settings.watchdog_patience.count() == 0) return;
    report = explain_standstill(
        fmt::format("nothing has run here for {:g} s while ", seconds(patience_)));
  });
  if (!all_asleep) seen_.reset();
  if (report.empty()) return;
  if (deadlock) {
    report +=
        "\nthis is a deadlock: no task can run again, since all workers sleep and no timer, no "
        "blocking call and no other thread can make a task ready. See docs/debugging/hangs.md; "
        "APGAS_DEADLOCK=report lets the program wait on";
  }
  settings.watchdog_report(report);
  if (deadlock && settings.on_deadlock == deadlock_action::end_process) settings.end_process();
}

// Requires: all workers sleep, and none can be woken.
bool watchdog::is_deadlock() {
  return watched_.settings.only_place && !watched_.anything_to_do() && !watched_.helpers.busy() &&
         watched_.external_calls.load(base::relaxed) == 0 &&
         (watched_.settings.events == nullptr || !watched_.settings.events->pending()) &&
         watched_.timed.until_next() == std::chrono::nanoseconds::max() &&
         base::foreign_threads() == 0;
}

// Returns the text of the report; empty if no task waits.
// Requires: all workers sleep, and none can be woken.
std::string watchdog::explain_standstill(const std::string& begin) {
  wait_groups groups;
  hang_explanation explanation;
  tasks.explain(groups, explanation);
  if (groups.tasks() == 0) return {};
  std::string text = fmt::format("{}{}:{}", begin, tasks_wait(groups.tasks()), groups.text());
  if (const std::string cycle = explanation.cycle(); !cycle.empty()) {
    text += fmt::format("\nthey wait for each other: {}", cycle);
  }
  return text;
}

// Prints what waits and what runs, at once.
void watchdog::answer_signal() {
  std::string report;
  const bool all_asleep = watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
    report = explain_standstill("on SIGQUIT, no worker runs a task, and ");
  });
  if (!all_asleep) {
    wait_groups groups;
    tasks.group(groups);
    report = fmt::format("on SIGQUIT, {}{}", tasks_wait(groups.tasks()),
                         groups.tasks() == 0 ? "" : ":") +
             groups.text();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i].sleeps) report += fmt::format("\n{}", running_task(i));
    }
  }
  if (report.empty()) report = "on SIGQUIT, no task waits or runs";
  watched_.settings.watchdog_report(report);
}

// Says once of each task that it has run for very long.
void watchdog::look_at_workers() {
  const time now = clock::now();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    observed_worker& w = workers_[i];
    worker& watched = *watched_.workers[i];
    const worker_state seen = state_of(watched);
    const std::uint64_t suspensions = watched.count.suspensions;
    w.sleeps = watched_.idle.sleeps(&**watched_.entries[i]);
    const bool same = seen == w.last && suspensions == w.suspensions && !w.sleeps;
    w.last = seen;
    w.suspensions = suspensions;
    if (!same) {
      w.since = now;
      w.reported = false;
    } else if (!w.reported && watched_.settings.watchdog_patience.count() != 0 &&
               now - w.since >= patience_ * patiences_of_a_task) {
      w.reported = true;
      watched_.settings.watchdog_report(running_task(i));
    }
  }
}

std::string watchdog::running_task(std::size_t worker) const {
  const observed_worker& w = workers_[worker];
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - w.since);
  const std::string site = line_text(w.last.site);
  return fmt::format("worker {} has been running {} for {} s", worker,
                     site.empty() ? std::string("main or a task without a spawn site")
                                  : fmt::format("the task spawned at {}", site),
                     whole.count());
}

}  // namespace apgas::inline v0::scheduler

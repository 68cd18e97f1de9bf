// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/membarrier.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/scheduler/job_report.hpp>
#include <apgas/scheduler/quit_signal.hpp>

#include "implementation.hpp"
#include "running_text.hpp"
#include "watchdog.hpp"

namespace apgas::inline v0::scheduler {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds deadlock_patience = 1s;  // if no other is given
constexpr std::chrono::milliseconds longest_pause = 100ms;   // so that SIGQUIT is answered soon
constexpr std::chrono::milliseconds longest_search = 1s;     // for the positions of running tasks

// A deadlock is certain if so many successive looks find it, in so much time.
constexpr int deadlock_looks = 3;
constexpr std::chrono::milliseconds deadlock_time = 200ms;

// Tasks that wait for each other while others run are reported after so much more time, so that a
// deadlock of all tasks is reported as one.
constexpr std::chrono::milliseconds longer_wait = 1s;

constexpr const char* no_task_can_run = "no task can run here while ";

// How often workers went to sleep, all together.
std::uint64_t sleeps_of(const scheduler::implementation& s) noexcept {
  std::uint64_t n = 0;
  for (const auto& w : s.workers) n += w->count.sleeps;
  return n;
}

double seconds(clock::duration d) { return std::chrono::duration<double>(d).count(); }

std::string with_line(std::string text, const std::string& line) {
  if (!line.empty()) text += fmt::format("\n{}", line);
  return text;
}

}  // namespace

watchdog::watchdog(scheduler::implementation& watched)
    : tasks(watched.workers),
      watched_(watched),
      patience_(watched.settings.watchdog_patience.count() != 0 ? watched.settings.watchdog_patience
                                                                : deadlock_patience),
      // A schedule asks when nothing can run, and its time is not that of the clock.
      observes_(watched.schedule == nullptr || watched.settings.watchdog_patience.count() != 0),
      signals_(quit_signals()),
      workers_(watched.workers.size()) {
  if (observes_) thread_ = std::thread([this] { watch(); });
}

watchdog::~watchdog() { stop(); }

void watchdog::stop() noexcept {
  if (!thread_.joinable()) return;
  sleep_.unpark();
  thread_.join();
}

void watchdog::watch() {
  const base::own_thread counts;
  std::optional<quit_signal_handler> handler;
  if (watched_.settings.report_on_signal)
    signals_.store(handler.emplace().received_before(), base::relaxed);
  while (!sleep_.park(std::min<std::chrono::nanoseconds>(patience_ / 4, longest_pause))) {
    without_exceptions([this] { tasks.observe(); });
    without_exceptions([this] { look_at_workers(); });
    if (leaves_reports_.load(base::relaxed)) continue;
    without_exceptions([this] { look_at_tasks(); });
    without_exceptions([this] { look_at_long_waits(); });
    if (!watched_.settings.report_on_signal || quit_signals() == answered_signals()) continue;
    signals_.store(quit_signals(), base::relaxed);
    without_exceptions([this] { answer_signal(); });
  }
}

// A report that cannot be made is left out.
template <class Look>
void watchdog::without_exceptions(Look look) noexcept {
  try {
    try {
      look();
    } catch (const std::exception& e) {
      watched_.settings.watchdog_report(
          fmt::format("a report of the watchdog is left out: {}", e.what()));
    }
  } catch (...) {  // not even this line could be printed
    return;
  }
}

// Reports a standstill when it has lasted for `patience_`, and a deadlock when it is certain.
void watchdog::look_at_tasks() {
  const config& settings = watched_.settings;
  explained report;
  bool deadlock = false;
  const bool waits_for_time = watched_.timed.until_next() != std::chrono::nanoseconds::max();
  const bool no_other_thread = may_be_deadlock() && base::foreign_threads() == 0;
  const bool all_asleep = watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
    const std::uint64_t activity = sleeps_of(watched_);
    const time now = clock::now();
    if (!standstill_ || standstill_->activity != activity || waits_for_time) {
      standstill_ = standstill{.activity = activity, .since = now};
    }
    standstill& s = *standstill_;
    if (now - s.since < patience_) return;
    if (!no_other_thread || !is_deadlock()) {
      s.deadlocked_looks = 0;
    } else if (s.deadlocked_looks++ == 0) {
      s.deadlocked_since = now;
    }
    deadlock = s.deadlocked_looks >= deadlock_looks && now - s.deadlocked_since >= deadlock_time;
    // What may turn out to be a deadlock is reported as one, or in one of the next looks.
    const bool is_new = !s.reported && s.deadlocked_looks == 0 &&
                        (settings.watchdog_patience.count() != 0 || !watched_.helpers.busy());
    if (!deadlock && !is_new) return;
    s.reported = true;
    s.deadlock_reported = deadlock;
    report = explain_standstill(
        fmt::format("nothing has run here for {:g} s while ", seconds(patience_)));
  });
  if (!all_asleep) standstill_.reset();
  if (report.text.empty()) return;
  if (deadlock) return conclude(std::move(report));
  settings.watchdog_report(with_line(std::move(report.text), reason_to_wait(watched_)));
}

// Reports a deadlock of all tasks.
void watchdog::conclude(explained report) {
  if (!report.text.empty()) report.text += '\n';
  report.text += fmt::format(
      "this is a deadlock: no task can run again, since all workers sleep and no timer, no "
      "blocking call and no other thread can make a task ready. What to try: {}. See "
      "docs/debugging/hangs.md; APGAS_DEADLOCK=report lets the program wait on",
      report.remedy);
  end_deadlock(std::move(report.text));
}

// Prints the report, and ends the process if that is what to do about a deadlock.
void watchdog::end_deadlock(std::string report) {
  const config& settings = watched_.settings;
  if (watched_.schedule != nullptr) {
    report += fmt::format("\nthe schedule is that of APGAS_SEED={}, which repeats it",
                          watched_.schedule->seed());
  }
  settings.watchdog_report(report);
  if (settings.on_deadlock == deadlock_action::end_process) settings.end_process();
}

// Searches among the tasks that have been in the same wait for so long.
std::optional<job_report::endless_wait> watchdog::find_endless_wait(
    std::chrono::milliseconds patience) {
  if (!watched_.settings.only_place || watched_.settings.on_deadlock == deadlock_action::none ||
      !base::membarrier_available())
    return std::nullopt;
  hang_explanation explanation(nullptr, graph_scope::some_tasks);
  place_waits waits;
  tasks.explain_long_waits(patience, explanation, waits);
  job_report report(1);
  report.add(std::move(waits));
  return report.find_endless_wait();
}

// Takes a fiftieth of the time of a thread at most. If nothing runs, look_at_tasks() decides.
void watchdog::look_at_long_waits() {
  constexpr int share = 50;
  const time begun = clock::now();
  if (begun < search_again_ || (standstill_ && standstill_->deadlocked_looks != 0)) return;
  const auto found = find_endless_wait(patience_ + longer_wait);
  const time now = clock::now();
  search_again_ = now + std::max<clock::duration>(patience_, (now - begun) * share);
  if (!found || std::exchange(endless_wait_, found->text) == found->text) return;
  if (found->is_certain) return end_deadlock(found->text);
  watched_.settings.watchdog_report(found->text);
}

void watchdog::look_for_deadlock() noexcept {
  without_exceptions([this] {
    // In this order: a thread that has ended meanwhile may have made a task ready before, and the
    // worker that has ended the schedule, with the program, may sleep since then.
    if (!watched_.settings.only_place) return;
    if (base::foreign_threads() == 0 && is_stuck() && !watched_.schedule->ended()) {
      explained report;
      watched_.idle.when_all_asleep(watched_.workers.size(),
                                    [&] { report = explain_standstill(no_task_can_run); });
      return conclude(std::move(report));
    }
    const auto found = find_endless_wait({});
    if (found && found->is_certain && std::exchange(endless_wait_, found->text) != found->text)
      end_deadlock(found->text);
  });
}

bool watchdog::is_stuck() noexcept {
  bool stuck = false;
  if (watched_.settings.on_deadlock == deadlock_action::none) return false;
  without_exceptions([this, &stuck] {
    watched_.idle.when_all_asleep(watched_.workers.size(),
                                  [this, &stuck] { stuck = nothing_can_become_ready(watched_); });
  });
  return stuck;
}

void watchdog::report_stuck(const std::function<explained()>& explain) noexcept {
  without_exceptions([this, &explain] {
    explained report;
    if (explain != nullptr) {
      report = explain();
    } else {
      watched_.idle.when_all_asleep(watched_.workers.size(),
                                    [&] { report = explain_standstill(no_task_can_run); });
    }
    conclude(std::move(report));
  });
}

// Whether a deadlock is searched for: only then are the threads of the process counted.
bool watchdog::may_be_deadlock() const noexcept {
  return watched_.settings.only_place && watched_.settings.on_deadlock != deadlock_action::none &&
         standstill_ && !standstill_->deadlock_reported &&
         clock::now() - standstill_->since >= patience_ - longest_pause;
}

// Whether, if the process has no other threads, no task can run again.
// Requires: all workers sleep, and none can be woken.
bool watchdog::is_deadlock() const {
  return watched_.settings.only_place && nothing_can_become_ready(watched_);
}

std::uint64_t activity_of(const scheduler::implementation& s) noexcept {
  std::uint64_t n =
      s.external_calls.load(base::relaxed) & ~scheduler::implementation::calls_in_progress;
  for (const auto& w : s.workers) n += w->count.suspensions;
  return n;
}

bool nothing_can_become_ready(scheduler::implementation& s) {
  const bool none_comes = !s.helpers.busy() &&
                          (s.external_calls.load(base::acquire) &  // P2 of scheduler.cpp
                           scheduler::implementation::calls_in_progress) == 0 &&
                          (s.settings.events == nullptr || !s.settings.events->pending()) &&
                          s.timed.until_next() == std::chrono::nanoseconds::max();
  return none_comes && !s.anything_to_do();  // in this order: a call that has just ended pushed
}

namespace {

watchdog::explained report_of(place_waits waits, const wait_groups& groups,
                              const std::string& begin) {
  waits.tasks = groups.tasks();
  waits.groups = groups.largest(groups_kept_max);
  job_report report(1);
  report.add(std::move(waits));
  return {report.text(begin), report.remedy()};
}

}  // namespace

// The text of the report is empty if no task waits.
// Requires: all workers sleep, and none can be woken.
watchdog::explained watchdog::explain_standstill(const std::string& begin) {
  wait_groups groups;
  hang_explanation explanation;
  tasks.explain(groups, explanation);
  if (groups.tasks() == 0) return {{}, job_report(1).remedy()};
  place_waits waits;
  waits.asleep = true;
  explanation.explain(waits);
  return report_of(std::move(waits), groups, begin);
}

namespace {

// Returns how many threads of the program there are. A thread of the library counts as one of the
// program from its creation until it says what it is; such threads begin when another place of the
// process is asked for its part of a report. So the threads are counted again before any is told.
int lasting_threads_of_program() {
  constexpr int counts_most = 20;
  int threads = base::foreign_threads();
  for (int i = 0; threads > 0 && i < counts_most; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    threads = base::foreign_threads();
  }
  return threads;
}

}  // namespace

std::string reason_to_wait(scheduler::implementation& s, std::size_t own_timers) {
  const std::string begin = "this need not be a deadlock: ";
  if (s.timed.count() > own_timers) {
    const auto next = s.timed.until_next();
    if (own_timers != 0 || next == std::chrono::nanoseconds::max()) return begin + "a timer is set";
    return begin + fmt::format("a timer is set for {:.1f} s from now", seconds(next));
  }
  if (s.helpers.busy()) return begin + "a call of blocking is running";
  const int threads = lasting_threads_of_program();
  if (threads <= 0) return {};
  return begin + (threads == 1 ? std::string("1 thread") : fmt::format("{} threads", threads)) +
         " of the program could make a task ready";
}

// Reports at once which tasks wait and which run.
void watchdog::answer_signal() {
  std::string report;
  const bool all_asleep = watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
    report = explain_standstill("on SIGQUIT, no worker runs a task, and ").text;
  });
  if (!all_asleep) {
    wait_groups groups;
    tasks.group(groups);
    place_waits waits;
    waits.running = running_tasks();
    tasks.explain_beside_running_tasks(nullptr, waits);
    report = report_of(std::move(waits), groups, "on SIGQUIT, ").text;
  }
  if (report.empty()) {
    report = "on SIGQUIT, no task waits or runs";
  } else if (all_asleep) {
    report = with_line(std::move(report), reason_to_wait(watched_));
  }
  watched_.settings.watchdog_report(report);
}

// Says once of each task that it has run for as long as the patience.
void watchdog::look_at_workers() {
  const std::lock_guard hold(workers_lock_);
  const time now = clock::now();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    observed_worker& w = workers_[i];
    const worker& watched = *watched_.workers[i];
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
               now - w.since >= patience_) {
      const std::string line = running_tasks(i, true);
      if (line.empty()) continue;
      w.reported = true;
      watched_.settings.watchdog_report(line);
    }
  }
}

// Returns what the worker has been running; empty if it sleeps or is in its scheduling loop.
std::string watchdog::running_tasks(std::size_t worker, bool with_position) const {
  const observed_worker& w = workers_[worker];
  const std::string text = running_text(*watched_.workers[worker], w.last, w.sleeps);
  if (text.empty()) return {};
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - w.since);
  return fmt::format("worker {} has been running {} for {} s{}", worker, text, whole.count(),
                     with_position ? position_text(watched_, worker, w.last) : std::string());
}

std::vector<std::string> watchdog::running_tasks() {
  const std::lock_guard hold(workers_lock_);
  const time begun = clock::now();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const bool in_time = clock::now() - begun < longest_search;
    if (std::string line = running_tasks(i, in_time); !line.empty())
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace apgas::inline v0::scheduler

// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/place_watch.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/membarrier.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/scheduler/quit_signal.hpp>

#include "implementation.hpp"
#include "running_text.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// See wait_for_sleep().
constexpr int looks_for_sleep = 20;
constexpr int looks_while_none_runs = 60;

// Where other programs compute, a poll may last for tens of milliseconds: Open MPI yields its core
// in each. So a look waits for its end.
constexpr int ms_for_a_poll = 100;

// While it exists, no thread polls the network; unless a poll has not ended in time, which
// is_held() says.
class held_polls {
 public:
  explicit held_polls(scheduler::implementation& s) : of_(s) {
    of_.look_waits.store(true, base::relaxed);
    for (int i = 0; !(is_held_ = of_.poller_lock.try_lock()) && i < ms_for_a_poll; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  held_polls(const held_polls&) = delete;
  held_polls& operator=(const held_polls&) = delete;
  ~held_polls() {
    if (is_held_) of_.poller_lock.unlock();
    of_.look_waits.store(false, base::relaxed);
  }
  bool is_held() const noexcept { return is_held_; }

 private:
  scheduler::implementation& of_;
  bool is_held_ = false;
};

bool any_runs_a_task(scheduler::implementation& s) {
  return std::ranges::any_of(s.workers, [&s](const auto& w) {
    const auto& entry = s.entries[static_cast<std::size_t>(w->id)];
    return !running_text(*w, state_of(*w), s.idle.sleeps(&**entry)).empty();
  });
}

}  // namespace

place_watch::place_watch(scheduler& of, bool takes_over) : watched_(of.internals()) {
  if (takes_over && watched_.stall_watchdog != nullptr) watched_.stall_watchdog->leave_reports();
}

unsigned place_watch::quit_signals() noexcept { return v0::scheduler::quit_signals(); }

unsigned place_watch::answered_signals() const noexcept {
  return watched_.stall_watchdog != nullptr ? watched_.stall_watchdog->answered_signals()
                                            : quit_signals();
}

place_watch::state place_watch::look(bool threads, const std::function<void()>& inside) const {
  state seen;
  const bool only_own = threads && base::foreign_threads() == 0;
  seen.threads = threads && !only_own;
  if (!watched_.idle.when_all_asleep(watched_.workers.size(), [] {})) return seen;
  const held_polls polls(watched_);
  seen.asleep = polls.is_held() && watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
    seen.activity = activity_of(watched_);
    seen.timers = watched_.timed.count();
    seen.blocking = watched_.helpers.busy();
    seen.still = only_own && nothing_can_become_ready(watched_);
    inside();
  });
  return seen;
}

bool place_watch::wait_for_sleep(int i) const {
  if (i >= looks_while_none_runs || (i >= looks_for_sleep && any_runs_a_task(watched_)))
    return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(i, looks_for_sleep)));
  return true;
}

place_waits place_watch::explain(const object_names* names, std::size_t own_timers,
                                 graph_purpose purpose) const {
  place_waits result;
  wait_groups groups;
  suspended_tasks& tasks = watched_.suspended();
  for (int i = 0; !result.asleep && wait_for_sleep(i); ++i) {
    result.asleep = watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
      hang_explanation explanation(names, graph_scope::all_tasks, purpose);
      tasks.explain(groups, explanation);
      explanation.explain(result);
    });
  }
  if (!result.asleep) {
    tasks.group(groups);
    result.running = running_tasks();
    if (purpose == graph_purpose::edges) tasks.explain_beside_running_tasks(names, result);
  } else if (std::string reason = reason_to_wait(watched_, own_timers); !reason.empty()) {
    result.running.push_back(std::move(reason));
  }
  result.tasks = groups.tasks();
  result.groups = groups.largest(groups_kept_max);
  for (place_waits::group& g : result.groups) g.at_least = !watched_.observes_waits();
  return result;
}

place_waits place_watch::explain_long_waits(const object_names* names,
                                            std::chrono::milliseconds patience) const {
  place_waits result;
  if (watched_.stall_watchdog == nullptr || !base::membarrier_available()) return result;
  hang_explanation explanation(names, graph_scope::some_tasks);
  watched_.stall_watchdog->tasks.explain_long_waits(patience, explanation, result);
  return result;
}

std::vector<std::string> place_watch::running_tasks() const {
  if (watched_.stall_watchdog != nullptr) return watched_.stall_watchdog->running_tasks();
  std::vector<std::string> lines;
  for (const auto& w : watched_.workers) {
    const worker_state seen = state_of(*w);
    if (std::string line = running_text(
            *w, seen, watched_.idle.sleeps(&**watched_.entries[static_cast<std::size_t>(w->id)]));
        !line.empty()) {
      lines.push_back(fmt::format("worker {} runs {}", w->id, line));
    }
  }
  return lines;
}

}  // namespace apgas::inline v0::scheduler

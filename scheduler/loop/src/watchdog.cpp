// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "implementation.hpp"
#include "watchdog.hpp"

namespace apgas::inline v0::scheduler {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t groups_max = 20;  // of tasks that wait for the same construct

// Describes what the task on this fiber waits for; empty if there is no task or it does not wait.
std::string waiting_text(const fiber& f) {
  const task_state& task = f.task;
  if (f.waits_for == nullptr && task.registrations == nullptr) return {};  // no task
  std::string text = f.waits_for != nullptr ? f.waits_for : "a phase of a clock or phaser";
  if (task.name != nullptr) text += fmt::format(", \"{}\"", task.name);
  if (task.site.line() == 0) return text + ", main or a task without a spawn site";
  return text + fmt::format(", spawned at {}:{}", task.site.file_name(), task.site.line());
}

}  // namespace

watchdog::watchdog(scheduler::implementation& watched, std::chrono::milliseconds patience,
                   report_function report)
    : watched_(watched),
      patience_(patience),
      report_(std::move(report)),
      thread_([this] { watch(); }) {}

watchdog::~watchdog() {
  sleep_.unpark();
  thread_.join();
}

void watchdog::add(fiber& f) noexcept {
  const std::lock_guard guard(lock_);
  f.newer = nullptr;
  f.older = newest_;
  if (newest_ != nullptr) newest_->newer = &f;
  newest_ = &f;
}

void watchdog::remove(fiber& f) noexcept {
  const std::lock_guard guard(lock_);
  if (f.older != nullptr) f.older->newer = f.newer;
  (f.newer != nullptr ? f.newer->older : newest_) = f.older;
}

void watchdog::watch() {
  std::optional<std::uint64_t> seen;  // total number of sleeps when all last slept
  clock::time_point since{};
  while (!sleep_.park(std::chrono::nanoseconds(patience_) / 4)) {
    std::string report;
    const bool waits_for_time = watched_.timed.until_next() != std::chrono::nanoseconds::max();
    const bool all_asleep = watched_.idle.when_all_asleep(watched_.workers.size(), [&] {
      std::uint64_t sleeps = 0;
      for (const auto& w : watched_.workers) sleeps += w->count.sleeps;
      if (std::exchange(seen, sleeps) != sleeps || waits_for_time) since = clock::now();
      if (since == clock::time_point::max() || clock::now() - since < patience_) return;
      report = describe();
      since = clock::time_point::max();  // do not report again until a task has run
    });
    if (!all_asleep) seen.reset();
    if (!report.empty()) report_(report);
  }
}

// Returns the text of the report; empty if no task waits.
// Requires: all workers sleep, and none can be woken.
std::string watchdog::describe() {
  std::map<std::string, std::uint64_t> groups;
  std::uint64_t tasks = 0;
  const std::lock_guard guard(lock_);
  for (const fiber* f = newest_; f != nullptr; f = f->older) {
    const std::string text = waiting_text(*f);
    if (text.empty()) continue;
    ++groups[text];
    ++tasks;
  }
  if (tasks == 0) return {};
  std::vector<std::pair<std::string, std::uint64_t>> most(groups.begin(), groups.end());
  std::ranges::stable_sort(most, std::ranges::greater{}, &decltype(most)::value_type::second);
  const double seconds = std::chrono::duration<double>(patience_).count();
  std::string text = fmt::format("nothing has run here for {:g} s while {}:", seconds,
                                 tasks == 1 ? "1 task waits" : fmt::format("{} tasks wait", tasks));
  for (std::size_t i = 0; i < std::min(groups_max, most.size()); ++i) {
    text += fmt::format("{} {} in {}", i == 0 ? "" : ";", most[i].second, most[i].first);
  }
  if (most.size() > groups_max) {
    text += fmt::format("; and {} more such groups", most.size() - groups_max);
  }
  return text;
}

}  // namespace apgas::inline v0::scheduler

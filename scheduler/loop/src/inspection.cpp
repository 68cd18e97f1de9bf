// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/inspection.hpp>

#include <bit>

#include "awaited_tasks.hpp"
#include "context.hpp"
#include "implementation.hpp"
#include "suspended_tasks.hpp"

namespace apgas::inline v0::scheduler {
namespace {

worker_report activity_of(scheduler::implementation& s, std::size_t id) {
  using enum worker_report::kind;
  if (s.idle.sleeps(&**s.entries[id])) return {asleep, {}};
  const worker& w = *s.workers[id];
  const worker_state seen = state_of(w);
  if (seen.searches || seen.on == nullptr) return {searching, {}};
  // The text of the site is read only if the task runs still: otherwise its code may be gone.
  const worker_state now = state_of(w);
  if (now.searches || now.on != seen.on || now.site != seen.site) return {running, {}};
  const std::string line = line_text(std::bit_cast<call_site>(now.site));
  return {running, line.empty() && now.main ? "main" : line};
}

}  // namespace

std::vector<worker_report> what_workers_do(scheduler& of) {
  scheduler::implementation& s = of.internals();
  std::vector<worker_report> all;
  all.reserve(s.workers.size());
  for (std::size_t i = 0; i < s.workers.size(); ++i) all.push_back(activity_of(s, i));
  return all;
}

std::uint64_t queued_tasks(scheduler& of) noexcept {
  std::uint64_t all = 0;
  for (const auto& w : of.internals().workers) all += w->tasks.size() + w->batch.size();
  return all;
}

task_report report_tasks(scheduler& of, bool awaited) {
  scheduler::implementation& s = of.internals();
  suspended_tasks& tasks = s.suspended();
  task_report report;
  wait_groups groups;
  std::vector<place_waits> waits(1);
  report.at_rest = s.idle.when_all_asleep(s.workers.size(), [&] {
    hang_explanation explanation;
    tasks.explain(groups, explanation);
    explanation.explain(waits.front());
  });
  if (!report.at_rest) {
    tasks.group(groups);
    if (awaited) tasks.explain_beside_running_tasks(nullptr, waits.front());
  }
  if (report.at_rest || waits.front().cycle_is_certain) report.cycle = waits.front().cycle;
  report.observed = s.observes_waits();
  report.waiting = groups.tasks();
  const joined_graph graph(waits);
  report.groups = groups.list(awaited_tasks(graph, false));
  report.workers = what_workers_do(of);
  report.queued = queued_tasks(of);
  return report;
}

suspended_stacks copy_stacks(scheduler& of, std::size_t most_bytes) {
  return of.internals().suspended().copy_stacks(most_bytes);
}

bool switches_by_boost() noexcept { return APGAS_SWITCH_BY_BOOST != 0; }

}  // namespace apgas::inline v0::scheduler

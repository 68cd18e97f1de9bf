// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/job_report.hpp>

#include "implementation.hpp"

// A scheduler as a place of a seeded schedule.
namespace apgas::inline v0::scheduler {

seeded_place::seeded_place(scheduler::implementation& of) : of_(of) {
  const int workers = of.settings.workers;
  turns& t = *of.schedule;
  t.add_place(of.settings.place, workers, *this);
  for (int i = 0; i < workers; ++i) {
    of.participants.push_back(&t.worker(of.settings.place, i));
    (*of.entries[static_cast<std::size_t>(i)])->sleep.observe(t);
  }
  of.timed.follow(t);
}

seeded_place::~seeded_place() { of_.schedule->remove_place(of_.settings.place); }

turns::time seeded_place::next_timer() const noexcept { return of_.timed.next(); }

bool seeded_place::is_stuck() noexcept { return of_.stall_watchdog->is_stuck(); }

void seeded_place::report_deadlock(std::span<turns::place* const> all) noexcept {
  if (all.size() == 1) return of_.stall_watchdog->report_stuck(nullptr);
  of_.stall_watchdog->report_stuck([all]() -> watchdog::explained {
    job_report report(static_cast<int>(all.size()));
    for (turns::place* const p : all) {
      const auto& at = static_cast<seeded_place&>(*p);
      if (at.explain_) report.add(at.explain_());
    }
    return {report.text("no task can run at any place while "), report.remedy()};
  });
}

}  // namespace apgas::inline v0::scheduler

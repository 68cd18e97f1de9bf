// SPDX-License-Identifier: Apache-2.0
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

void seeded_place::report_deadlock(bool last) noexcept { of_.stall_watchdog->report_stuck(last); }

}  // namespace apgas::inline v0::scheduler

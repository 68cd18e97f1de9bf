// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <apgas/base/assert.hpp>

#include "job_watch.hpp"
#include "known_objects.hpp"

// How place 0 finds tasks of several places that wait for each other while others run. Each place
// answers with those of its tasks that have been in the same wait for longer than a search takes.
// So all tasks in the answers waited at the moment at which the search began.
namespace apgas::inline v0::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto search_limit = 2s;  // tasks have waited for longer than that
constexpr int pause_share = 50;    // a place spends at most this part of the time on searches

}  // namespace

scheduler::place_waits job_watch::long_waits() const {
  const known_objects names(place_);
  scheduler::place_waits waits = watched_->explain_long_waits(&names, patience_ + search_limit);
  waits.place = place_.here;
  return waits;
}

// If nothing runs at any place, the waves decide. The messages of a search wake workers, so they
// wait for the end of a wave. Without APGAS_WATCHDOG, places exchange no messages of this object
// while tasks run.
void job_watch::begin_search(time now) {
  if (searching_ || now < search_again_ || !reports_always_ || !some_run_ || waves_.in_progress() ||
      on_deadlock_ == base::deadlock_choice::off || all_may_wait_)
    return;
  searching_.emplace(collection{.number = ++collections_,
                                .begun = now,
                                .end = now + search_limit,
                                .wanted = {},
                                .parts = {},
                                .missing = static_cast<std::size_t>(place_.places)});
  searching_->parts.resize(searching_->missing);
  search_again_ = now + patience_;
  some_run_ = false;
  for (comm::rank p = 1; p < place_.places; ++p) send(p, operation::search, searching_->number);
  take_long_waits(0, long_waits());
  search_again_ = std::max(search_again_, now + (clock::now() - now) * pause_share);
}

void job_watch::take_long_waits(std::size_t place, scheduler::place_waits part) {
  auto& known = searching_->parts[place];
  if (!known) --searching_->missing;
  known = std::move(part);
  if (searching_->missing == 0) end_search(clock::now());
}

// Ends a search that is complete, or takes too long and so proves nothing.
void job_watch::end_search(time now) {
  if (!searching_ || (searching_->missing != 0 && now < searching_->end)) return;
  collection search = *std::exchange(searching_, std::nullopt);
  if (search.missing != 0 || now >= search.end || all_may_wait_) return;
  scheduler::job_report report(place_.places);
  for (auto& part : search.parts) report.add(*std::move(part));
  const auto found = report.find_endless_wait();
  if (!found || std::exchange(endless_wait_, found->text) == found->text) return;
  print_(found->text);
  if (found->is_certain && on_deadlock_ == base::deadlock_choice::abort)
    base::end_job(base::deadlock_exit_code);
}

}  // namespace apgas::inline v0::launch

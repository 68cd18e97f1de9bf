// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>

#include "job_watch.hpp"
#include "known_objects.hpp"

// How the report of all places is collected and made.
namespace apgas::inline v0::launch {
namespace {

// Of each construct.
constexpr std::size_t edges_printed_max = 20;
constexpr std::size_t edges_kept_max = 1000;

job_explanation::answer answer_with_edges(const scheduler::job_report& report) {
  scheduler::wait_edges edges = report.edges(edges_kept_max);
  return {.text = report.edges_text(edges, edges_printed_max),
          .tasks = report.tasks(),
          .groups = {},
          .edges = std::move(edges)};
}

}  // namespace

scheduler::place_waits job_watch::part(scheduler::graph_purpose purpose) const {
  const known_objects names(place_);
  scheduler::place_waits waits = watched_->explain(&names, teams_.timer_set() ? 1 : 0, purpose);
  waits.place = place_.here;
  waits.teams = teams_.for_report();
  return waits;
}

// A second SIGQUIT, or the same one at several places of a process, needs no second report.
void job_watch::want(wanted_report w) {
  const auto is_signal = [](const wanted_report& each) { return each.why == reason::signal; };
  if (is_signal(w)) {
    if (std::ranges::any_of(waiting_, is_signal)) return;
    if (collecting_ && std::ranges::any_of(collecting_->wanted, is_signal)) return;
  }
  waiting_.push_back(std::move(w));
}

void job_watch::begin_collection() {
  if (collecting_ || waiting_.empty()) return;
  const time now = clock::now();
  const scheduler::graph_purpose purpose = waiting_.front().purpose();
  const auto now_wanted = std::ranges::stable_partition(
      waiting_, [purpose](const wanted_report& w) { return w.purpose() != purpose; });
  std::vector<wanted_report> wanted(std::move_iterator(now_wanted.begin()),
                                    std::move_iterator(now_wanted.end()));
  waiting_.erase(now_wanted.begin(), now_wanted.end());
  std::chrono::milliseconds limit = wanted.front().limit;
  for (const wanted_report& w : wanted) limit = std::min(limit, w.limit);
  collecting_.emplace(collection{.number = ++collections_,
                                 .begun = now,
                                 .end = now + limit,
                                 .wanted = std::move(wanted),
                                 .parts = {},
                                 .missing = static_cast<std::size_t>(place_.places)});
  collecting_->parts.resize(collecting_->missing);
  for (comm::rank p = 0; p < place_.places; ++p) {
    if (p != place_.here)
      send(p, operation::request, collecting_->number, std::as_bytes(std::span(&purpose, 1)));
  }
  take_part(static_cast<std::size_t>(place_.here), part(purpose));
}

void job_watch::take_part(std::size_t place, scheduler::place_waits part) {
  auto& known = collecting_->parts[place];
  if (!known) --collecting_->missing;
  known = std::move(part);
}

// Makes the report if all parts are there, or the time is over.
void job_watch::end_collection() {
  const time now = clock::now();
  if (!collecting_ || (collecting_->missing != 0 && now < collecting_->end)) return;
  collection c = *std::exchange(collecting_, std::nullopt);
  const double seconds = std::chrono::duration<double>(now - c.begun).count();
  scheduler::job_report report(place_.places);
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    if (c.parts[p]) {
      report.add(*std::move(c.parts[p]));
    } else {
      report.add_missing(static_cast<int>(p), seconds);
    }
  }
  for (const wanted_report& w : c.wanted) deliver(w, report);
}

void job_watch::deliver(const wanted_report& w, const scheduler::job_report& report) {
  const double seconds = std::chrono::duration<double>(patience_).count();
  const std::string standstill =
      fmt::format("nothing has run at any place for {:g} s while ", seconds);
  switch (w.why) {
    case reason::explanation:
      if (w.what == detail::edges) return w.promise->set_value(answer_with_edges(report));
      return w.promise->set_value({.text = report.text(""),
                                   .tasks = report.tasks(),
                                   .groups = w.what == detail::groups
                                                 ? report.groups()
                                                 : std::vector<scheduler::job_report::group>(),
                                   .edges = {}});
    case reason::signal:
      return print_(report.text("on SIGQUIT, "));
    case reason::standstill:
      if (report.tasks() != 0) print_(report.text(standstill));
      return;
    case reason::deadlock:
      break;
  }
  if (report.tasks() == 0) return;
  const std::string text = report.text(standstill);
  print_(fmt::format(
      "{}\nthis is a deadlock: no task can run again, since at all places all workers sleep, no "
      "message is on its way, and no timer, no blocking call and no other thread can make a task "
      "ready. What to try: {}. See docs/debugging/hangs.md; APGAS_DEADLOCK=report lets the program "
      "wait on",
      text, report.remedy()));
  if (on_deadlock_ == base::deadlock_choice::abort) base::end_job(base::deadlock_exit_code);
}

job_explanation::answer job_watch::explain(std::chrono::milliseconds limit, detail what) {
  const auto promise = std::make_shared<std::promise<answer>>();
  std::future<answer> made = promise->get_future();
  {
    const std::lock_guard hold(mutex_);
    if (!running_) return {};
    requests_.push_back({reason::explanation, limit, promise, what});
    begin_thread();
    wake_.notify_all();
  }
  try {
    return made.get();
  } catch (const std::future_error&) {  // the run ends
    return {};
  }
}

}  // namespace apgas::inline v0::launch

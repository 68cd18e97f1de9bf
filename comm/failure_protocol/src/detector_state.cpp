// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "detector_state.hpp"

namespace apgas::inline v0::comm {

namespace {

using namespace std::chrono_literals;
using kind = detector_action::kind;

constexpr int failure_code = 1;
constexpr std::ptrdiff_t max_steps = 25;

}  // namespace

detector_state::detector_state(const detection_tree& tree, rank here, time timeout, time now)
    : tree_(tree),
      here_(here),
      timeout_(timeout),
      interval_(timeout > time{0} ? timeout / 10 : time{1s}),
      expected_wake_(now + interval_) {
  if (const rank up = tree.parent(here); up >= 0) peers_[up] = {now};
  for (const rank r : tree.children(here)) peers_[r] = {now};
}

// A busy host does not make a thread late by two intervals.
void detector_state::on_wake(time now) {
  if (now <= expected_wake_ + 2 * interval_) return;
  for (auto& [place, other] : peers_) other.last = now;
  late_until_ = now + fallback_delay;
}

void detector_state::on_heartbeat(rank from, time now) {
  if (const auto found = peers_.find(from); found != peers_.end()) found->second.last = now;
}

void detector_state::on_goodbye(rank from) {
  if (const auto found = peers_.find(from); found != peers_.end()) found->second.left = true;
}

void detector_state::on_done(rank from) {
  if (const auto found = peers_.find(from); found != peers_.end()) found->second.done = true;
}

bool detector_state::subtree_done() const {
  return own_done_ && !ending() && std::ranges::all_of(peers_, [this](const auto& each) {
           return each.first == tree_.parent(here_) || each.second.done || each.second.left;
         });
}

bool detector_state::all_done() const {
  if (here_ == 0) return subtree_done();
  const peer& parent = peers_.at(tree_.parent(here_));
  return own_done_ && !ending() && parent.left;
}

bool detector_state::all_left() const {
  return all_done() &&
         std::ranges::all_of(peers_, [](const auto& each) { return each.second.left; });
}

void detector_state::on_connection_end(rank from, time now) {
  const auto found = peers_.find(from);
  if (found == peers_.end() || std::exchange(found->second.left, true) || reported_) return;
  if (forwards(from)) to_forward_.push_back({from, failure_cause::ended, now});
  failures_.push_back(
      {from, failure_cause::ended, now + std::max(report_delay(from), late_until_ - now)});
}

void detector_state::on_forwarded_failure(rank about, failure_cause cause, time now) {
  if (here_ != 0 || reported_ || about <= 0 || about >= tree_.size()) return;
  failures_.push_back({about, cause, std::max(now, late_until_)});
}

void detector_state::on_reported(int code, time now) {
  if (std::exchange(reported_, true)) return;
  if (!asked_to_end_) code_ = code;
  end_at_ = asked_to_end_ ? now : now + reporter_timeout;
}

// A repeated request changes nothing.
void detector_state::on_asked_to_end(int code, time now) {
  if (std::exchange(asked_to_end_, true)) return;
  end_at_ = reported_ ? now : now + termination_delay;
  code_ = code;
}

// The time that this place leaves to the reporters before it.
detector_state::time detector_state::report_delay(rank about) const {
  std::vector<rank> reporters;
  if (about == 0) {
    reporters = tree_.children(0);
  } else {
    reporters = {0};
    const std::vector<rank> on_host = tree_.members_of_host(about);
    std::ranges::copy_if(on_host, std::back_inserter(reporters),
                         [&](rank r) { return r != about && r != 0; });
  }
  const auto before = std::ranges::find(reporters, here_) - reporters.begin();
  return before == 0 ? time{0}
                     : fallback_delay + std::min<std::ptrdiff_t>(before, max_steps) * fallback_step;
}

detector_action detector_state::next(time now) {
  if (ended_) return {};
  if (reported_ || (asked_to_end_ && now >= end_at_)) {
    if (now < end_at_) return {};
    ended_ = reported_ = true;
    return {.what = kind::end_job, .places = {}, .code = code_};
  }
  detector_action action = next_forward(now);
  if (action.what == kind::none) action = report_ended(now);
  if (action.what == kind::none) action = report_timed_out(now);
  if (action.what == kind::report) begin_report(action, now);
  if (action.what == kind::none && here_ != 0 && !sent_done_ && subtree_done()) {
    sent_done_ = true;
    action.what = kind::send_done;
  }
  return action;
}

void detector_state::begin_report(detector_action& action, time now) {
  std::ranges::sort(action.places);
  const auto [first, last] = std::ranges::unique(action.places);
  action.places.erase(first, last);
  reported_ = true;
  if (!asked_to_end_) code_ = failure_code;
  const bool wait = !asked_to_end_ && action.cause == failure_cause::ended;
  end_at_ = now + (wait ? launcher_timeout : time{0});
}

detector_action detector_state::next_forward(time now) {
  if (!to_forward_.empty()) {
    const failure first = to_forward_.front();
    to_forward_.erase(to_forward_.begin());
    return {.what = kind::forward, .places = {first.about}, .cause = first.cause};
  }
  for (auto& [place, other] : peers_) {
    if (!forwards(place) || other.forwarded || !timed_out(other, now)) continue;
    other.forwarded = true;
    return {.what = kind::forward, .places = {place}, .cause = failure_cause::timed_out};
  }
  return {};
}

detector_action detector_state::report_ended(time now) {
  const auto found =
      std::ranges::find_if(failures_, [now](const failure& each) { return each.report_at <= now; });
  if (found == failures_.end()) return {};
  return {.what = kind::report, .places = {found->about}, .cause = found->cause};
}

// Waits for one more interval, so that places which failed at the same time are named in the same
// notice.
detector_action detector_state::report_timed_out(time now) {
  const bool report_now = std::ranges::any_of(peers_, [&](const auto& each) {
    return timed_out(each.second, now) &&
           now - each.second.last >= timeout_ + interval_ + report_delay(each.first);
  });
  if (!report_now || now < late_until_) return {};
  detector_action action{.what = kind::report, .places = {}, .cause = failure_cause::timed_out};
  for (const auto& [place, other] : peers_) {
    if (!timed_out(other, now)) continue;
    if (tree_.same_host(place, here_)) {
      action.places.push_back(place);
    } else {
      const std::vector<rank> all = tree_.members_of_host(place);
      action.places.insert(action.places.end(), all.begin(), all.end());
    }
  }
  return action;
}

detector_state::time detector_state::deadline(time now) {
  time first = now + interval_;
  if (reported_ || asked_to_end_) first = std::min(first, end_at_);
  for (const failure& each : failures_) first = std::min(first, each.report_at);
  expected_wake_ = std::max(first, now);
  return expected_wake_;
}

}  // namespace apgas::inline v0::comm

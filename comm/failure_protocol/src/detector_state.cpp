// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "detector_state.hpp"

namespace apgas::inline v0::comm {

namespace {

using namespace std::chrono_literals;
using kind = detector_action::kind;

constexpr int code_of_notice = 1;
constexpr std::ptrdiff_t most_waited_for = 25;

}  // namespace

detector_state::detector_state(const detection_tree& hosts, rank here, time silence, time now)
    : hosts_(hosts),
      here_(here),
      silence_(silence),
      interval_(silence > time{0} ? silence / 10 : time{1s}),
      expected_(now + interval_) {
  if (const rank up = hosts.above(here); up >= 0) peers_[up] = {now};
  for (const rank r : hosts.below(here)) peers_[r] = {now};
}

// Two intervals late is more than a busy machine makes of one.
void detector_state::on_wake(time now) {
  if (now <= expected_ + 2 * interval_) return;
  for (auto& [place, other] : peers_) other.last = now;
  late_until_ = now + grace;
}

void detector_state::on_sign(rank from, time now) {
  if (const auto found = peers_.find(from); found != peers_.end()) found->second.last = now;
}

void detector_state::on_bye(rank from) {
  if (const auto found = peers_.find(from); found != peers_.end()) found->second.left = true;
}

void detector_state::on_done(rank from) {
  if (const auto found = peers_.find(from); found != peers_.end()) found->second.done = true;
}

bool detector_state::done_below() const {
  return done_ && !ending() && std::ranges::all_of(peers_, [this](const auto& each) {
           return each.first == hosts_.above(here_) || each.second.done || each.second.left;
         });
}

bool detector_state::all_done() const {
  if (here_ == 0) return done_below();
  const peer& above = peers_.at(hosts_.above(here_));
  return done_ && !ending() && above.left;
}

bool detector_state::all_left() const {
  return all_done() &&
         std::ranges::all_of(peers_, [](const auto& each) { return each.second.left; });
}

void detector_state::on_end(rank from, time now) {
  const auto found = peers_.find(from);
  if (found == peers_.end() || std::exchange(found->second.left, true) || reported_) return;
  if (reports(from)) to_report_.push_back({from, end_cause::ended, now});
  gone_.push_back({from, end_cause::ended, now + std::max(turn_of(from), late_until_ - now)});
}

void detector_state::on_report(rank about, end_cause cause, time now) {
  if (here_ != 0 || reported_ || about <= 0 || about >= hosts_.size()) return;
  gone_.push_back({about, cause, std::max(now, late_until_)});
}

void detector_state::on_reported(int code, time now) {
  if (std::exchange(reported_, true)) return;
  if (!asked_) code_ = code;
  leave_at_ = asked_ ? now : now + others_turn;
}

// A second time changes nothing.
void detector_state::on_asked_to_end(int code, time now) {
  if (std::exchange(asked_, true)) return;
  leave_at_ = reported_ ? now : now + last_look;
  code_ = code;
}

// How long this place leaves it to those before it.
detector_state::time detector_state::turn_of(rank about) const {
  std::vector<rank> speakers;
  if (about == 0) {
    speakers = hosts_.below(0);
  } else {
    speakers = {0};
    const std::vector<rank> neighbours = hosts_.neighbours(about);
    std::ranges::copy_if(neighbours, std::back_inserter(speakers),
                         [&](rank r) { return r != about && r != 0; });
  }
  const auto before = std::ranges::find(speakers, here_) - speakers.begin();
  return before == 0 ? time{0} : grace + std::min<std::ptrdiff_t>(before, most_waited_for) * step;
}

detector_action detector_state::next(time now) {
  if (left_) return {};
  if (reported_ || (asked_ && now >= leave_at_)) {
    if (now < leave_at_) return {};
    left_ = reported_ = true;
    return {.what = kind::leave, .places = {}, .code = code_};
  }
  detector_action action = report_once(now);
  if (action.what == kind::none) action = report_ended(now);
  if (action.what == kind::none) action = report_silent(now);
  if (action.what == kind::report_at) report_at(action, now);
  if (action.what == kind::none && here_ != 0 && !told_done_ && done_below()) {
    told_done_ = true;
    action.what = kind::tell_done;
  }
  return action;
}

void detector_state::report_at(detector_action& action, time now) {
  std::ranges::sort(action.places);
  const auto [first, last] = std::ranges::unique(action.places);
  action.places.erase(first, last);
  reported_ = true;
  if (!asked_) code_ = code_of_notice;
  const bool wait = !asked_ && action.cause == end_cause::ended;
  leave_at_ = now + (wait ? launchers_turn : time{0});
}

detector_action detector_state::report_once(time now) {
  if (!to_report_.empty()) {
    const gone first = to_report_.front();
    to_report_.erase(to_report_.begin());
    return {.what = kind::report, .places = {first.about}, .cause = first.cause};
  }
  for (auto& [place, other] : peers_) {
    if (!reports(place) || other.reported || !is_silent(other, now)) continue;
    other.reported = true;
    return {.what = kind::report, .places = {place}, .cause = end_cause::silent};
  }
  return {};
}

detector_action detector_state::report_ended(time now) {
  const auto due =
      std::ranges::find_if(gone_, [now](const gone& each) { return each.report_at <= now; });
  if (due == gone_.end()) return {};
  return {.what = kind::report_at, .places = {due->about}, .cause = due->cause};
}

// One interval more, so that those that went with it are named, too.
detector_action detector_state::report_silent(time now) {
  const bool due = std::ranges::any_of(peers_, [&](const auto& each) {
    return is_silent(each.second, now) &&
           now - each.second.last >= silence_ + interval_ + turn_of(each.first);
  });
  if (!due || now < late_until_) return {};
  detector_action action{.what = kind::report_at, .places = {}, .cause = end_cause::silent};
  for (const auto& [place, other] : peers_) {
    if (!is_silent(other, now)) continue;
    if (hosts_.same_host(place, here_)) {
      action.places.push_back(place);
    } else {
      const std::vector<rank> all = hosts_.neighbours(place);
      action.places.insert(action.places.end(), all.begin(), all.end());
    }
  }
  return action;
}

detector_state::time detector_state::deadline(time now) {
  time first = now + interval_;
  if (reported_ || asked_) first = std::min(first, leave_at_);
  for (const gone& each : gone_) first = std::min(first, each.report_at);
  expected_ = std::max(first, now);
  return expected_;
}

}  // namespace apgas::inline v0::comm

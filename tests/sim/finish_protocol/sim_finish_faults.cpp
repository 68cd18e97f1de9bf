// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include "sim_finish_faults.hpp"

namespace apgas::inline v0::sync {
namespace {

template <class T>
void put(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void finish_test_access::dump(const remote_finish_state& p, std::string& to) {
  put(to, p.pool_);
  put(to, p.balance_);
  put(to, p.busy_periods_);
  put(to, p.splits_);
  put(to, p.waiting_);
  put(to, p.asked_);
}

void finish_test_access::dump(const tree_return& t, std::string& to) {
  put(to, t.parent_);
  put(to, t.level_);
  put(to, t.made_);
  put(to, t.owed_);
  put(to, t.held_);
}

void finish_test_access::dump(const finish_home& h, std::string& to) {
  put(to, h.outstanding_);
  put(to, h.balance_);
}

}  // namespace apgas::inline v0::sync

namespace sim {

using access = finish_test_access;

std::string name(fault f) {
  static constexpr std::array names{"none",
                                    "split_without_subtracting",
                                    "split_gives_all",
                                    "revive_drops_credit",
                                    "grant_is_lost",
                                    "reply_credit_is_lost",
                                    "return_keeps_half",
                                    "return_before_waiting_frames",
                                    "return_in_another_busy_period",
                                    "ask_twice",
                                    "ask_between_grant_and_drain",
                                    "mint_is_not_booked",
                                    "grant_is_not_booked",
                                    "count_is_not_taken",
                                    "count_is_released_early",
                                    "home_credit_before_count",
                                    "reply_and_return",
                                    "reply_from_busy_place",
                                    "only_first_waiting_frame_leaves",
                                    "request_is_ignored",
                                    "escaping_spawn_does_not_hold",
                                    "link_is_not_counted",
                                    "parent_is_overwritten",
                                    "return_before_children",
                                    "child_credit_is_lost",
                                    "child_return_keeps_link",
                                    "release_is_lost",
                                    "reply_from_linked_place",
                                    "linked_place_returns_home"};
  static_assert(names.size() == static_cast<std::size_t>(fault::last));
  return names[static_cast<std::size_t>(f)];
}

std::uint8_t tested_remote::on_arrival(credit_sum credit, bool wakes, int source,
                                       std::uint8_t level) {
  const bool fresh = state_.empty();
  if (fault_ == fault::revive_drops_credit && wakes) access::pool(state_) = 0;
  state_.on_arrival(credit, wakes);
  const std::uint8_t linked = level != 0 ? 1 : 0;
  std::uint8_t released = links_.on_arrival(fresh, source, level, linked);
  if (fault_ == fault::parent_is_overwritten && released != 0) {
    access::parent(links_) = source;
    access::held(links_) = 1;
    released = 0;
  }
  return released;
}

std::uint8_t tested_remote::link(std::uint8_t links_max, std::uint8_t levels_max) {
  const std::uint8_t before = links_.owed();
  const std::uint8_t level = links_.link(links_max, levels_max);
  if (fault_ == fault::link_is_not_counted) access::owed(links_) = before;
  return level;
}

void tested_remote::on_return(const returned_credit& returned, std::uint8_t links) {
  const credit_sum before = state_.pool();
  state_.on_return(returned);
  if (fault_ == fault::child_credit_is_lost) access::pool(state_) = before;
  if (fault_ != fault::child_return_keeps_link) links_.on_release(links);
}

void tested_remote::on_release(std::uint8_t links) { links_.on_release(links); }

void tested_remote::on_reply(const returned_credit& returned) {
  const credit_sum before = state_.pool();
  state_.on_reply(returned);
  if (fault_ == fault::reply_credit_is_lost) access::pool(state_) = before;
}

remote_finish_state::split_result tested_remote::split(bool escaping) {
  const credit_sum before = state_.pool();
  auto result = escaping ? state_.split_escaping() : state_.split();
  if (result.share != 0 && fault_ == fault::split_without_subtracting) {
    access::pool(state_) = before;
  }
  if (result.share != 0 && fault_ == fault::split_gives_all && before >> 64 == 0) {
    access::pool(state_) = 0;
    result.share = static_cast<std::uint64_t>(before);
  }
  if (result.share == 0 && fault_ == fault::ask_twice) result.ask = true;
  if (fault_ == fault::ask_between_grant_and_drain && !access::asked(state_) &&
      state_.waiting() > 0) {
    result.ask = access::asked(state_) = true;
  }
  return result;
}

void tested_remote::on_grant(std::uint64_t credit) {
  const credit_sum before = state_.pool();
  state_.on_grant(credit);
  if (fault_ == fault::grant_is_lost) access::pool(state_) = before;
}

remote_finish_state::split_result tested_remote::next_waiting() { return state_.next_waiting(); }

bool tested_remote::quiescent() {
  if (fault_ == fault::return_before_waiting_frames) {
    return access::busy_periods(state_) == 0 && state_.pool() > 0;
  }
  if (fault_ == fault::return_in_another_busy_period) {
    return state_.waiting() == 0 && state_.pool() > 0;
  }
  const bool children = links_.owed() != 0 && fault_ != fault::return_before_children;
  return state_.quiescent() && !children;
}

tree_return::target tested_remote::give_back_links() {
  if (fault_ == fault::return_before_children) access::owed(links_) = 0;
  return links_.give_back();
}

returned_credit tested_remote::give_back() {
  if (fault_ == fault::return_before_waiting_frames ||
      fault_ == fault::return_in_another_busy_period) {
    access::busy_periods(state_) = 0;
    access::waiting(state_) = 0;
    access::asked(state_) = false;
  }
  returned_credit all = state_.give_back();
  if (fault_ == fault::return_keeps_half) all.low -= all.low / 2;
  return all;
}

finish_home::minted tested_home::mint(std::uint64_t share) {
  const credit_sum before = state_.outstanding();
  auto result = state_.mint(share);
  if (fault_ == fault::mint_is_not_booked) access::outstanding(state_) = before;
  if (fault_ == fault::count_is_not_taken) result.takes_count = false;
  return result;
}

finish_home::minted tested_home::on_request(std::uint64_t share) {
  const credit_sum before = state_.outstanding();
  const auto result = state_.on_request(share);
  if (fault_ == fault::grant_is_not_booked) access::outstanding(state_) = before;
  return result;
}

bool tested_home::on_return(const returned_credit& returned) {
  return state_.on_return(returned) || fault_ == fault::count_is_released_early;
}

bool tested_home::on_arrival(credit_sum credit) { return state_.on_arrival(credit); }

}  // namespace sim

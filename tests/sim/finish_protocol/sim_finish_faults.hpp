// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state machines under test, and the faults that can be injected into them. A simulation whose
// checker does not detect these faults proves nothing.

#include <cstdint>
#include <string>

#include <apgas/sync/finish_protocol.hpp>

namespace apgas::inline v0::sync {

// Has access to the state machines: dumps of the state, and faults that no event can cause.
struct finish_test_access {
  static credit_sum& pool(remote_finish_state& p) { return p.pool_; }
  static std::uint32_t& busy_periods(remote_finish_state& p) { return p.busy_periods_; }
  static std::uint32_t& waiting(remote_finish_state& p) { return p.waiting_; }
  static bool& asked(remote_finish_state& p) { return p.asked_; }
  static credit_sum& outstanding(finish_home& h) { return h.outstanding_; }
  static std::int32_t& parent(tree_return& t) { return t.parent_; }
  static std::uint8_t& owed(tree_return& t) { return t.owed_; }
  static std::uint8_t& held(tree_return& t) { return t.held_; }

  static void dump(const remote_finish_state& p, std::string& to);
  static void dump(const finish_home& h, std::string& to);
  static void dump(const tree_return& t, std::string& to);
};

}  // namespace apgas::inline v0::sync

namespace sim {

using apgas::sync::credit_sum;
using apgas::sync::finish_home;
using apgas::sync::finish_test_access;
using apgas::sync::remote_finish_state;
using apgas::sync::returned_credit;
using apgas::sync::tree_return;

enum class fault {
  none,
  // in the remote finish state
  split_without_subtracting,
  split_gives_all,
  revive_drops_credit,
  grant_is_lost,
  reply_credit_is_lost,
  return_keeps_half,
  return_before_waiting_frames,
  return_in_another_busy_period,
  ask_twice,
  ask_between_grant_and_drain,
  // in finish_home
  mint_is_not_booked,
  grant_is_not_booked,
  count_is_not_taken,
  count_is_released_early,
  // in the driver
  home_credit_before_count,
  reply_and_return,
  reply_from_busy_place,
  only_first_waiting_frame_leaves,
  request_is_ignored,
  escaping_spawn_does_not_hold,
  // in tree return, and in the driver for it
  link_is_not_counted,
  parent_is_overwritten,
  return_before_children,
  child_credit_is_lost,
  child_return_keeps_link,
  release_is_lost,
  reply_from_linked_place,
  linked_place_returns_home,
  last,
  first_of_links = link_is_not_counted,
};

std::string name(fault f);

// A remote_finish_state and its tree_return, with at most one fault.
class tested_remote {
 public:
  explicit tested_remote(fault f) : fault_(f) {}
  remote_finish_state& state() { return state_; }
  const remote_finish_state& state() const { return state_; }
  const tree_return& links() const { return links_; }

  // Returns the number of links to release.
  std::uint8_t on_arrival(credit_sum credit, bool wakes, int source, std::uint8_t level);
  std::uint8_t link(std::uint8_t links_max, std::uint8_t levels_max);
  void on_return(const returned_credit& returned, std::uint8_t links);
  void on_release(std::uint8_t links);
  void on_reply(const returned_credit& returned);
  remote_finish_state::split_result split(bool escaping);
  void on_grant(std::uint64_t credit);
  remote_finish_state::split_result next_waiting();
  void on_idle() { state_.on_idle(); }
  bool quiescent();
  returned_credit give_back();
  tree_return::target give_back_links();

 private:
  remote_finish_state state_;
  tree_return links_;
  fault fault_;
};

// A finish_home, with at most one fault.
class tested_home {
 public:
  explicit tested_home(fault f) : fault_(f) {}
  finish_home& state() { return state_; }
  const finish_home& state() const { return state_; }

  finish_home::minted mint(std::uint64_t share);
  finish_home::minted on_request(std::uint64_t share);
  bool on_return(const returned_credit& returned);
  bool on_arrival(credit_sum credit);

 private:
  finish_home state_;
  fault fault_;
};

}  // namespace sim

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The machines under test, and what can be made wrong with them on purpose: a simulation whose
// checker does not see these faults proves nothing.

#include <cstdint>
#include <string>

#include <apgas/sync/finish_protocol.hpp>

namespace apgas::inline v0::sync {

// Reaches into the machines: state dumps, and faults that no event can cause.
struct finish_test_access {
  static credit_sum& pool(finish_proxy& p) { return p.pool_; }
  static std::uint32_t& runs(finish_proxy& p) { return p.runs_; }
  static std::uint32_t& waiting(finish_proxy& p) { return p.waiting_; }
  static bool& asked(finish_proxy& p) { return p.asked_; }
  static credit_sum& outstanding(finish_home& h) { return h.outstanding_; }

  static void dump(const finish_proxy& p, std::string& to);
  static void dump(const finish_home& h, std::string& to);
};

}  // namespace apgas::inline v0::sync

namespace sim {

using apgas::sync::credit_sum;
using apgas::sync::finish_home;
using apgas::sync::finish_proxy;
using apgas::sync::finish_test_access;
using apgas::sync::returned_credit;

enum class fault {
  none,
  // of the proxy
  split_without_subtracting,
  split_gives_all,
  revive_drops_credit,
  grant_is_lost,
  reply_credit_is_lost,
  return_keeps_half,
  return_before_waiting_frames,
  return_while_another_run_lasts,
  ask_twice,
  ask_between_grant_and_drain,
  // of home
  mint_is_not_booked,
  grant_is_not_booked,
  unit_is_not_taken,
  unit_is_dropped_early,
  // of who drives them
  home_credit_before_count,
  reply_and_return,
  reply_from_busy_place,
  only_first_waiting_frame_leaves,
  request_is_ignored,
  guest_does_not_hold,
  last,
};

std::string name(fault f);

// finish_proxy, with at most one fault.
class tested_proxy {
 public:
  explicit tested_proxy(fault f) : fault_(f) {}
  finish_proxy& machine() { return machine_; }
  const finish_proxy& machine() const { return machine_; }

  void on_arrival(credit_sum credit, bool wakes);
  void on_reply(const returned_credit& returned);
  finish_proxy::split_result split(bool guest);
  void on_grant(std::uint64_t credit);
  finish_proxy::split_result next_waiting();
  void on_idle() { machine_.on_idle(); }
  bool quiescent();
  returned_credit give_back();

 private:
  finish_proxy machine_;
  fault fault_;
};

// finish_home, with at most one fault.
class tested_home {
 public:
  explicit tested_home(fault f) : fault_(f) {}
  finish_home& machine() { return machine_; }
  const finish_home& machine() const { return machine_; }

  finish_home::minted mint(std::uint64_t share);
  finish_home::minted on_request(std::uint64_t share);
  bool on_return(const returned_credit& returned);
  bool on_arrival(credit_sum credit);

 private:
  finish_home machine_;
  fault fault_;
};

}  // namespace sim

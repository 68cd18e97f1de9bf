// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a place has failed, and which place reports it. A pure state machine: it takes
// events together with the time, and returns actions. It knows no sockets and reads no clock.
// failure_detector.cpp drives it.
//
// A place has failed if its connection ends without a goodbye, or if nothing has arrived from it
// for the heartbeat timeout. One place reports the failure. The others are fallback reporters:
//
//   failed place    reporter                         fallback reporters
//   place 0         place 1                          the other children of place 0, by rank
//   a leader        place 0                          the other places of its host, by rank
//   another         place 0, notified by its leader  its leader
//
// The first fallback reporter reports after `fallback_delay`, each further one a `fallback_step`
// later. A reporter notifies the others before it ends. They then print nothing, and end by
// themselves if the launcher does not end them.
//
// At the end of the program, a place sends `done` to its parent when it and its subtree are done.
// It is monitored until all places are done: then `goodbye` goes down the tree from place 0, and
// each place waits for the goodbye of its children, which is the last message that they send.
//
// Invariants
//   I1  A place reports at most once, and never after it has learned that another place has
//       reported.
//   I2  It never reports a place from which something arrived within the timeout, or which has sent
//       goodbye.
//   I3  all_done() is true at a place only after on_own_done() was called at all places.
//   I4  A place that was late itself (stopped, suspended, or without a processor) blames no other
//       place for that period, and is not the first to report.

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include <apgas/comm/rank.hpp>

#include "detection_tree.hpp"

namespace apgas::inline v0::comm {

enum class failure_cause : std::uint32_t { ended, timed_out };

struct detector_action {
  enum class kind : std::uint8_t {
    none,
    forward,    // notify place 0 that places[0] has failed for that cause
    report,     // print the failure notice for `places`; end_job follows
    end_job,    // end the job with `code`, without printing anything
    send_done,  // tell the parent that this place and its subtree are done
  };
  kind what = kind::none;
  std::vector<rank> places;  // ascending
  failure_cause cause = failure_cause::ended;
  int code = 0;
};

class detector_state {
 public:
  using time = std::chrono::nanoseconds;  // of a steady clock, from any origin

  // The delay of the first fallback reporter and of each further one. A notice does not reach all
  // places, and Open MPI takes three seconds to end the places of other hosts, longer on a busy
  // host.
  static constexpr time fallback_delay = std::chrono::seconds{10};
  static constexpr time fallback_step = std::chrono::milliseconds{200};
  // The time that a reporter leaves to the launcher, which also notices that a place has ended, and
  // ends the job with a better exit code. Open MPI waits for one second before it does.
  static constexpr time launcher_timeout = std::chrono::seconds{5};
  // The time after which a place ends by itself because another place has reported.
  static constexpr time reporter_timeout = std::chrono::seconds{6};
  // The time that a place waits for an exit reason after the launcher has asked it to end.
  static constexpr time termination_delay = std::chrono::milliseconds{300};

  // Monitors parent(here) and children(here). `timeout` is the heartbeat timeout; 0: a missing
  // heartbeat is no failure. `tree` must outlive this object.
  detector_state(const detection_tree& tree, rank here, time timeout, time now);

  // The interval between two heartbeats.
  time interval() const noexcept { return interval_; }

  // Events. on_wake() comes first whenever the owner wakes; it checks whether the owner was late.
  void on_wake(time now);
  void on_heartbeat(rank from, time now);
  void on_goodbye(rank from);
  void on_done(rank from);
  void on_own_done() { own_done_ = true; }
  void on_connection_end(rank from, time now);
  void on_forwarded_failure(rank about, failure_cause cause, time now);
  void on_reported(int code, time now);  // this place or another one has reported
  void on_asked_to_end(int code, time now);

  // The next action. The owner calls it until it returns `none`.
  detector_action next(time now);
  // The time at which the owner must wake at the latest.
  time deadline(time now);

  // Whether the job is about to end because of a failure that was detected here.
  bool ending() const noexcept { return reported_ || !failures_.empty(); }
  // Whether all places are done, so that this one sends goodbye and nothing more.
  bool all_done() const;
  // Whether all children have sent goodbye as well, so that the detector may stop.
  bool all_left() const;

 private:
  struct peer {
    time last;
    bool left = false;  // it has sent goodbye, or its connection has ended
    bool done = false;
    bool forwarded = false;
  };
  struct failure {
    rank about;
    failure_cause cause;
    time report_at;
  };

  time report_delay(rank about) const;
  bool timed_out(const peer& other, time now) const {
    return timeout_ > time{0} && !other.left && now - other.last >= timeout_;
  }
  bool forwards(rank about) const noexcept {
    return here_ != 0 && about != 0 && tree_.leader_of(about) == here_;
  }
  bool subtree_done() const;
  detector_action next_forward(time now);
  detector_action report_ended(time now);
  detector_action report_timed_out(time now);
  void begin_report(detector_action& action, time now);

  const detection_tree& tree_;
  const rank here_;
  const time timeout_;
  const time interval_;
  std::map<rank, peer> peers_;
  std::vector<failure> failures_;    // detected here or forwarded to place 0, in order
  std::vector<failure> to_forward_;  // ended, place 0 not yet notified
  time expected_wake_;               // the result of the last deadline()
  time late_until_{};                // this place does not report before
  bool reported_ = false;            // by any place
  bool own_done_ = false;
  bool sent_done_ = false;
  bool ended_ = false;
  bool asked_to_end_ = false;
  time end_at_{};
  int code_ = 1;
};

}  // namespace apgas::inline v0::comm

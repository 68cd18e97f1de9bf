// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which place is gone, and who says so. A value: it takes events with the time and says
// what to do; it knows no socket and reads no clock. failure_detector.cpp feeds it.
//
// A place is gone when its connection ends without a `bye`, or when nothing came from it for so
// long (`silence`). Exactly one place speaks about it:
//
//   gone                 first to speak        next, if that does not end the job
//   place 0              place 1               others that place 0 was connected to, by rank
//   a leader             place 0               the other places of its host, by rank
//   another              place 0, told of it   its leader
//                        by its leader
//
// The next wait for `grace` and then a step for each before them. Whoever speaks tells the others
// before it leaves; those are then silent, and leave by themselves if nobody ends them.
//
// At the end a place says `done` to the one above when it and all below are, and is watched on.
// Once place 0 and all below it are done, `bye` goes down the tree, and each place waits for the
// `bye` of those below, which is the last thing that they say.
//
// Invariants
//   I1  says `speak` at most once, and not after it heard that another place has spoken.
//   I2  never speaks about a place from which something came within `silence`, or that said bye.
//   I3  all_done at any place only after on_own_done at all places.
//   I4  who was late itself (stopped, suspended, without a processor) blames nobody for the silence
//       meanwhile, and is not the first to speak.

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include <apgas/comm/rank.hpp>

#include "detection_tree.hpp"

namespace apgas::inline v0::comm {

enum class end_cause : std::uint32_t { ended, silent };

struct detector_action {
  enum class kind : std::uint8_t {
    none,
    report,     // tell place 0 of places[0]
    report_at,      // say that places are gone, for that cause; then leave follows
    leave,      // end the job, without a word, with this code
    tell_done,  // to the one above: all here and below are done
  };
  kind what = kind::none;
  std::vector<rank> places;  // ascending
  end_cause cause = end_cause::ended;
  int code = 0;
};

class detector_state {
 public:
  using time = std::chrono::nanoseconds;  // since any moment, of a clock that is steady

  // The next speak so much later, and one by one: not all hear of the first, and Open MPI takes
  // three seconds to end the places of other hosts, more on a busy machine.
  static constexpr time grace = std::chrono::seconds{10};
  static constexpr time step = std::chrono::milliseconds{200};
  // The launcher sees a place that ended, too, and ends the job with a better code. Open MPI waits
  // for a second before it does.
  static constexpr time launchers_turn = std::chrono::seconds{5};
  // What others have spoken about ends the job for so long by itself.
  static constexpr time others_turn = std::chrono::seconds{6};
  // The launcher asked for the end: a word may still be missing why.
  static constexpr time last_look = std::chrono::milliseconds{300};

  // `silence` 0: it is never a failure. Watches above(here) and below(here).
  detector_state(const detection_tree& hosts, rank here, time silence, time now);

  // How often this place gives a sign of life.
  time interval() const noexcept { return interval_; }

  // First of all when the owner woke: whether it was late.
  void on_wake(time now);
  void on_sign(rank from, time now);
  void on_bye(rank from);
  void on_done(rank from);
  void on_own_done() { done_ = true; }
  void on_end(rank from, time now);  // of the connection
  void on_report(rank about, end_cause cause, time now);
  void on_reported(int code, time now);  // by anyone: that place or another one
  void on_asked_to_end(int code, time now);

  // To be called until it says none.
  detector_action next(time now);
  // When to wake at the latest.
  time deadline(time now);

  // Whether the job is about to end for something that was seen here.
  bool ending() const noexcept { return reported_ || !gone_.empty(); }
  // Whether all places are done: say bye, and nothing more.
  bool all_done() const;
  // Whether those below have said it, too: stop.
  bool all_left() const;

 private:
  struct peer {
    time last;
    bool left = false;  // said bye, or its connection is over
    bool done = false;
    bool reported = false;
  };
  struct gone {
    rank about;
    end_cause cause;
    time report_at;
  };

  time turn_of(rank about) const;
  bool is_silent(const peer& other, time now) const {
    return silence_ > time{0} && !other.left && now - other.last >= silence_;
  }
  bool reports(rank about) const noexcept {
    return here_ != 0 && about != 0 && hosts_.leader_of(about) == here_;
  }
  bool done_below() const;
  detector_action report_once(time now);
  detector_action report_ended(time now);
  detector_action report_silent(time now);
  void report_at(detector_action& action, time now);

  const detection_tree& hosts_;
  const rank here_;
  const time silence_;
  const time interval_;
  std::map<rank, peer> peers_;
  std::vector<gone> gone_;       // ended, in the order in which they did; or reported
  std::vector<gone> to_report_;  // ended
  time expected_;                // to wake at the latest
  time late_until_{};            // not the first to speak before that
  bool reported_ = false;          // by anybody
  bool done_ = false;
  bool told_done_ = false;
  bool left_ = false;
  bool asked_ = false;
  time leave_at_{};
  int code_ = 1;
};

}  // namespace apgas::inline v0::comm
